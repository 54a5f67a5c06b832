// Documents as numbers of words, so that text is unpacked, parsed and cut into words only once.
//
// A block holds the documents that one thread added at once: its unique words, most frequent first,
// and of each document the places of its words among them, as numbers of 7 bits a byte (varints).
// A block needs no other, so threads read and write blocks in any order. The words of a document
// add up to its text.
//
// Blocks lie in memory up to a limit, and then in a file. There each comes after a frame with its
// sizes and checksums. Numbers in the file are as this machine writes them.
#pragma once

#include "lexicon.hpp"

namespace supratok {

inline uint64_t take_varint(const char*& at) {
  const auto byte = [&] { return static_cast<unsigned char>(*at++); };
  uint64_t value = byte();
  if (value < 0x80) return value;
  value &= 0x7f;
  for (int shift = 7;; shift += 7) {
    const uint64_t next = byte();
    value |= (next & 0x7f) << shift;
    if (next < 0x80) return value;
  }
}

// How much there is of something.
struct Sizes {
  uint64_t documents = 0, bytes = 0, words = 0;
  void operator+=(const Sizes& more) {
    documents += more.documents;
    bytes += more.bytes;
    words += more.words;
  }
};

// A block, read.
class Block {
 public:
  explicit Block(std::unique_ptr<char[]> owned, std::string_view bytes)
      : owned_(std::move(owned)), at_(bytes.data()) {
    by_class = take_varint(at_);
    documents = take_varint(at_);
    words.resize(take_varint(at_));
    std::vector<size_t> sizes(words.size());
    for (size_t& size : sizes) size = take_varint(at_);
    for (size_t i = 0; i < sizes.size(); at_ += sizes[i++]) words[i] = {at_, sizes[i]};
  }

  // Calls visit(numbers of its words) for each document.
  template <class Visit>
  void each_document(Visit visit) const {
    Numbers numbers;
    const char* at = at_;
    for (size_t d = 0; d < documents; breathe(++d)) {
      numbers.resize(take_varint(at));
      for (uint32_t& number : numbers) number = static_cast<uint32_t>(take_varint(at));
      visit(static_cast<const Numbers&>(numbers));
    }
  }

  // The texts of the documents; they lie in `room`.
  Texts texts(std::string& room) const {
    std::vector<size_t> ends;
    room.clear();
    each_document([&](const Numbers& numbers) {
      for (const uint32_t number : numbers) room += words[number];
      ends.push_back(room.size());
    });
    Texts texts;
    size_t start = 0;
    for (const size_t end : ends) {
      texts.push_back({room.data() + start, end - start});
      start = end;
    }
    return texts;
  }

  bool by_class;  // how its words were cut
  size_t documents;
  Texts words;
  const uint32_t* numbers = nullptr;  // of its words in the store's lexicon, if it has them

 private:
  std::unique_ptr<char[]> owned_;  // what it was read from; or it lies in the store's memory
  const char* at_;                 // the documents
};

// Writes a block, for one thread at a time.
class BlockWriter {
 public:
  void clear() {
    numbers_.clear();
    ends_.clear();
  }
  void add(uint32_t word) { numbers_.push_back(word); }
  void end_document() { ends_.push_back(numbers_.size()); }

  // A block of plain numbers, without words; valid until the next.
  std::string_view finish(Sizes& sizes) {
    bytes_.clear();
    for (const uint64_t value : {uint64_t{0}, uint64_t{ends_.size()}, uint64_t{0}})
      put_varint(bytes_, value);
    put_documents([](uint32_t number) { return number; });
    sizes.documents += ends_.size();
    sizes.words += numbers_.size();
    return bytes_;
  }
  // A block of words, valid until the next. `words` are numbered in the order in which `each`
  // visits them.
  std::string_view finish(const TextCounts& words, bool by_class, Sizes& sizes) {
    std::vector<std::pair<uint64_t, std::string_view>> order;
    order.reserve(words.size());
    words.each([&](std::string_view text, int64_t count) {
      const auto rank = ~static_cast<uint64_t>(std::min<int64_t>(count, 0xffffffff));
      order.emplace_back(rank << 32 | order.size(), text);
    });
    sort(order, [](const auto& a, const auto& b) { return a.first < b.first; });
    bytes_.clear();
    for (const uint64_t value :
         {uint64_t{by_class}, uint64_t{ends_.size()}, uint64_t{order.size()}})
      put_varint(bytes_, value);
    places_.resize(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      places_[static_cast<uint32_t>(order[i].first)] = static_cast<uint32_t>(i);
      put_varint(bytes_, order[i].second.size());
    }
    for (const auto& [key, text] : order) bytes_ += text;
    put_documents([&](uint32_t word) { return places_[word]; });
    sizes.documents += ends_.size();
    sizes.words += numbers_.size();
    return bytes_;
  }

 private:
  template <class Place>
  void put_documents(Place place) {
    const size_t start = bytes_.size();
    bytes_.resize(start + numbers_.size() * 5 + ends_.size() * 10);  // of 32 and 64 bits, at most
    char* to = bytes_.data() + start;
    const auto put = [&](uint64_t value) {
      for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
      *to++ = static_cast<char>(value);
    };
    size_t at = 0;
    for (const size_t end : ends_) {
      put(end - at);
      for (; at < end; ++at) put(place(numbers_[at]));
    }
    bytes_.resize(static_cast<size_t>(to - bytes_.data()));
  }

  Numbers numbers_;           // of all documents, end to end
  std::vector<size_t> ends_;  // of each document, among them
  Numbers places_;            // by word, its place in the block
  std::string bytes_;
};

class Store {
 public:
  static constexpr const char* kName = "documents.blocks";

  // With `is_private` the file has a name of its own and is removed with the store.
  Store(std::filesystem::path folder, bool is_private, uint64_t memory)
      : folder_(std::move(folder)), private_(is_private), room_(memory) {}

  // Goes on with the first `size` bytes of the file in a folder, which `flush` committed.
  Store(std::filesystem::path folder, uint64_t size, uint64_t memory)
      : Store(std::move(folder), false, memory) {
    if (!std::filesystem::exists(folder_ / kName)) {
      if (size) throw FileError(ENOENT, (folder_ / kName).string());
      return;
    }
    file_ = std::make_unique<File>(folder_ / kName, File::Mode::kExisting);
    if (file_->size() < size) refuse("is shorter than " + std::to_string(size) + " bytes");
    file_->truncate(size);
    while (end_ < size) {
      Frame frame;
      const size_t left = size - end_;
      if (left < sizeof frame || !file_->read(frame.bytes(), sizeof frame, end_) ||
          !frame.holds() || frame.size > left - sizeof frame)
        refuse("has no whole block at byte " + std::to_string(end_));
      slots_.push_back({nullptr, end_ + sizeof frame, frame.size, frame.crc, frame.sizes.bytes});
      totals_ += frame.sizes;
      end_ += sizeof frame + frame.size;
    }
  }

  void add(std::string_view block, const Sizes& sizes) {
    const std::lock_guard guard(lock_);
    if (block.size() <= room_) {
      auto memory = std::make_unique_for_overwrite<char[]>(block.size());
      std::copy(block.begin(), block.end(), memory.get());
      slots_.push_back({std::move(memory), 0, block.size(), 0, sizes.bytes});
      room_ -= block.size();
    } else {
      write(block, sizes);
    }
    totals_ += sizes;
  }

  // What was written so far stays, whatever happens to the process; returns its size in bytes.
  uint64_t flush() {
    const std::lock_guard guard(lock_);
    if (file_) file_->sync();
    return end_;
  }

  size_t blocks() const {
    const std::lock_guard guard(lock_);
    return slots_.size();
  }
  Sizes totals() const {
    const std::lock_guard guard(lock_);
    return totals_;
  }
  uint64_t bytes_of(size_t i) const {  // of the texts in a block
    const std::lock_guard guard(lock_);
    return slots_.at(i).bytes;
  }
  // Numbers the words of all blocks, once, on several threads. Later blocks have no numbers, nor
  // have those that there is no memory for.
  const Lexicon& lexicon(size_t threads) const {
    const std::lock_guard guard(numbering_);
    if (!numbers_.empty() || blocks() == 0) return lexicon_;
    std::vector<Numbers> numbers(blocks());
    std::atomic<int64_t> room{kNumbers};
    const auto work = [&](size_t i) {
      const Block block = read(i);
      if ((room -= static_cast<int64_t>(block.words.size())) < 0) return;
      if (i == 0) lexicon_.by_class = block.by_class;
      numbers[i].reserve(block.words.size());
      for (const std::string_view word : block.words)
        numbers[i].push_back(lexicon_.add(word, hash_bytes(word)));
      breathe();
    };
    in_parallel(numbers.size(), threads, work, [] {});
    numbers_ = std::move(numbers);
    return lexicon_;
  }

  // For many threads at once.
  Block block(size_t i) const {
    Block found = read(i);
    if (i < numbers_.size() && !numbers_[i].empty()) found.numbers = numbers_[i].data();
    return found;
  }

 private:
  Block read(size_t i) const {
    const auto [memory, at, size, crc] = place(i);
    if (memory) return Block(nullptr, {memory, size});
    auto bytes = std::make_unique_for_overwrite<char[]>(size);
    if (!file_->read(bytes.get(), size, at) || crc32({bytes.get(), size}) != crc)
      refuse("is damaged at byte " + std::to_string(at));
    const std::string_view view(bytes.get(), size);
    return Block(std::move(bytes), view);
  }

  static constexpr int64_t kNumbers = 1
                                      << 24;  // in all blocks, 64 MB: for about a gigabyte of text
  struct Frame {
    std::array<char, 4> magic{'S', 'T', 'B', '1'};
    uint32_t crc = 0;  // of the block
    uint64_t size = 0;
    Sizes sizes;
    uint32_t unused = 0;
    uint32_t own_crc = 0;  // of all above

    char* bytes() { return reinterpret_cast<char*>(this); }
    uint32_t checksum() { return crc32({bytes(), sizeof(Frame) - sizeof own_crc}); }
    bool holds() { return magic == Frame().magic && own_crc == checksum(); }
  };
  static_assert(sizeof(Frame) == 48, "no gaps");
  struct Slot {
    std::unique_ptr<char[]> memory;  // or in the file
    uint64_t at, size;
    uint32_t crc;
    uint64_t bytes;
  };

  std::tuple<const char*, uint64_t, size_t, uint32_t> place(size_t i) const {
    const std::lock_guard guard(lock_);
    const Slot& slot = slots_.at(i);
    return {slot.memory.get(), slot.at, slot.size, slot.crc};
  }

  // A block that could not be written whole lies after `end_`, where the next one is written.
  void write(std::string_view block, const Sizes& sizes) {
    if (!file_)
      file_ = private_ ? std::make_unique<File>(folder_, File::Mode::kPrivate)
                       : std::make_unique<File>(folder_ / kName, File::Mode::kFresh);
    Frame frame;
    frame.crc = crc32(block);
    frame.size = block.size();
    frame.sizes = sizes;
    frame.own_crc = frame.checksum();
    file_->write({frame.bytes(), sizeof frame}, end_);
    file_->write(block, end_ + sizeof frame);
    slots_.push_back({nullptr, end_ + sizeof frame, frame.size, frame.crc, sizes.bytes});
    end_ += sizeof frame + block.size();
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw std::invalid_argument(file_->path() + " " + what +
                                "; delete it, and the documents are read again");
  }

  std::filesystem::path folder_;
  bool private_;
  uint64_t room_;  // bytes of memory left
  std::unique_ptr<File> file_;
  uint64_t end_ = 0;  // of the file
  std::vector<Slot> slots_;
  Sizes totals_;
  mutable std::mutex lock_;
  mutable std::mutex numbering_;
  mutable Lexicon lexicon_;
  mutable std::vector<Numbers> numbers_;  // by block, of its words
};

}  // namespace supratok
