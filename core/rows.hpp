// Rows: texts (any bytes) with counts, sorted by text, as a stream of bytes.
//
// A stream is a sequence of blocks, each readable by itself. A block is a header of three numbers
// of 4 bytes, little-endian (the size of its body, its number of rows, the CRC-32 of these 8 bytes
// and the body), then its body. A row is four things: how many bytes its text shares with the text
// before (0 at the start of a block), how many others it has, these, and its count. The numbers in
// a body have 7 bits a byte, the lowest first; a byte of 128 or more says that another follows.
#pragma once

#include "file.hpp"
#include "flat_map.hpp"

namespace supratok {

struct TextCount {
  std::string_view text;
  int64_t count;
};

inline void put_varint(std::string& bytes, uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes += static_cast<char>(number | 0x80);
  bytes += static_cast<char>(number);
}

inline void put_number(std::string& bytes, size_t at, uint32_t number) {
  for (size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(number >> 8 * i);
}
inline uint32_t number_at(std::string_view bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i)
    number |= uint32_t{static_cast<unsigned char>(bytes[at + i])} << 8 * i;
  return number;
}

constexpr size_t kRowsHeader = 12;

// Collects sorted rows into a block.
class RowBlock {
 public:
  static constexpr size_t kInFile = 1 << 20;
  explicit RowBlock(size_t full = kInFile) : full_(full) { start(); }

  // Invariant: texts rise. True when the block is full: then the caller must take it.
  bool add(std::string_view text, int64_t count) {
    if (text.size() + bytes_.size() >= 0xffffff00u)
      throw std::length_error("a text of 4 billion bytes is too long to count");
    const size_t most = std::min(text.size(), last_.size());
    const auto shared = static_cast<size_t>(
        std::mismatch(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(most), last_.begin())
            .first -
        text.begin());
    put_varint(bytes_, shared);
    put_varint(bytes_, text.size() - shared);
    bytes_ += text.substr(shared);
    put_varint(bytes_, static_cast<uint64_t>(count));
    last_.resize(shared);
    last_ += text.substr(shared);
    ++rows_;
    return bytes_.size() >= full_;
  }
  bool empty() const { return rows_ == 0; }
  // The block; the next one begins.
  std::string take() {
    put_number(bytes_, 0, static_cast<uint32_t>(bytes_.size() - kRowsHeader));
    put_number(bytes_, 4, rows_);
    const std::string_view all = bytes_;
    put_number(bytes_, 8, crc32(all.substr(kRowsHeader), crc32(all.substr(0, 8))));
    std::string block = std::move(bytes_);
    start();
    return block;
  }

 private:
  void start() {
    bytes_.assign(kRowsHeader, 0);
    bytes_.reserve(full_ + full_ / 16);
    last_.clear();
    rows_ = 0;
  }

  size_t full_;
  std::string bytes_, last_;  // the last text
  uint32_t rows_ = 0;
};

// The first 8 bytes of a text as a number that sorts as they do.
inline uint64_t first_bytes(std::string_view text) {
  uint64_t key = 0;
  for (size_t i = 0; i < std::min<size_t>(text.size(), 8); ++i)
    key |= uint64_t{static_cast<unsigned char>(text[i])} << (56 - 8 * i);
  return key;
}

// Gives rows one by one, by rising text.
class RowStream {
 public:
  virtual ~RowStream() = default;
  virtual bool next() = 0;  // goes to the first row, then to the next; false: there is none
  virtual TextCount row() const = 0;  // valid until `next`
};

// Reads blocks. `fetch` puts the next into a string, or returns false; `name` says in errors where
// the blocks come from.
class RowReader : public RowStream {
 public:
  using Fetch = std::function<bool(std::string&)>;
  RowReader(Fetch fetch, std::string name) : fetch_(std::move(fetch)), name_(std::move(name)) {}

  bool next() override {
    while (left_ == 0) {
      if (at_ != block_.size()) damaged("a block is longer than its rows");
      if (!fetch_(block_)) return false;
      open();
    }
    --left_;
    const uint64_t shared = varint(), rest = varint();
    if (shared > text_.size() || (first_ && shared) || rest > block_.size() - at_)
      damaged("a row is longer than its block");
    const std::string_view tail = std::string_view(block_).substr(at_, rest);
    if (begun_ && std::string_view(text_).substr(shared) >= tail) damaged("rows are not sorted");
    text_.resize(shared);
    text_ += tail;
    at_ += rest;
    const uint64_t count = varint();
    if (count >> 63) damaged("a count of 2**63 or more");
    count_ = static_cast<int64_t>(count);
    first_ = false;
    begun_ = true;
    return true;
  }
  TextCount row() const override { return {text_, count_}; }

 private:
  [[noreturn]] void damaged(const char* why) const {
    throw std::invalid_argument(name_ + ": damaged (" + why + "); make it again");
  }
  void open() {
    at_ = kRowsHeader;
    const std::string_view all = block_;
    if (all.size() < kRowsHeader || all.size() - kRowsHeader != number_at(all, 0))
      damaged("a block is cut short");
    if (crc32(all.substr(kRowsHeader), crc32(all.substr(0, 8))) != number_at(all, 8))
      damaged("a block has the wrong checksum");
    left_ = number_at(all, 4);
    first_ = true;
  }
  uint64_t varint() {
    uint64_t number = 0;
    for (int shift = 0; shift < 64 && at_ < block_.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(block_[at_++]);
      number |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return number;
    }
    damaged("a number has no end");
  }

  Fetch fetch_;
  std::string name_, block_, text_;
  int64_t count_ = 0;
  size_t at_ = 0;  // in the block
  uint32_t left_ = 0;
  bool first_ = false;  // of the block
  bool begun_ = false;
};

// Merges streams, adding the counts of equal texts: a heap with the smallest text on top.
class RowMerge : public RowStream {
 public:
  explicit RowMerge(std::vector<std::unique_ptr<RowStream>> inputs) : inputs_(std::move(inputs)) {}

  bool next() override {
    if (!begun_) begin();
    if (heap_.empty()) return false;
    text_ = heap_[0].text;
    count_ = 0;
    do {
      if (heap_[0].count > INT64_MAX - count_)
        throw std::length_error("counts of a text add up to 2**63 or more");
      count_ += heap_[0].count;
      advance();
    } while (!heap_.empty() && heap_[0].text == text_);
    return true;
  }
  TextCount row() const override { return {text_, count_}; }

 private:
  struct Head {
    uint64_t key;  // the first 8 bytes: most comparisons need no more
    std::string_view text;
    int64_t count;
    RowStream* stream;
    bool operator<(const Head& other) const {
      return key != other.key ? key < other.key : text < other.text;
    }
  };
  static Head head_of(RowStream& stream) {
    const TextCount row = stream.row();
    return {first_bytes(row.text), row.text, row.count, &stream};
  }
  void begin() {
    begun_ = true;
    for (const auto& input : inputs_)
      if (input->next()) heap_.push_back(head_of(*input));
    std::sort(heap_.begin(), heap_.end());  // a sorted list is a heap
  }
  // Moves the stream on top to its next row, and to its place.
  void advance() {
    Head moved{};
    if (RowStream& stream = *heap_[0].stream; stream.next()) {
      moved = head_of(stream);
    } else {
      moved = heap_.back();
      heap_.pop_back();
      if (heap_.empty()) return;
    }
    size_t place = 0;
    for (size_t child; (child = place * 2 + 1) < heap_.size(); place = child) {
      if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
      if (!(heap_[child] < moved)) break;
      heap_[place] = heap_[child];
    }
    heap_[place] = moved;
  }

  std::vector<std::unique_ptr<RowStream>> inputs_;
  std::vector<Head> heap_;
  bool begun_ = false;
  std::string text_;
  int64_t count_ = 0;
};

}  // namespace supratok
