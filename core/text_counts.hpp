// Texts and how often each was seen: a table for one thread, and one that many threads share.
//
// Adding is commutative and every reading is sorted, so a table does not depend on the order of the
// texts, on the number of threads, or on how the corpus was cut into pieces.
#pragma once

#include "spill.hpp"
#include "threads.hpp"

namespace supratok {

// Keeps copies of the texts, or, where they outlive it, borrows them. Rows and texts lie in blocks
// of one size, which fit into any memory that a growing index gives back: dozens of tables grow
// side by side.
class TextCounts {
 public:
  explicit TextCounts(bool borrows = false) : borrows_(borrows) {}
  // Returns the number of the text, by the order in which texts first came.
  uint32_t add(std::string_view text, uint64_t hash, int64_t count) {
    const auto fresh = static_cast<uint32_t>(size_);
    const uint32_t number =
        index_.find_or_add(hash, fresh, [&](uint32_t i) { return same_text(row(i).text, text); });
    if (number == fresh) append(text, hash);
    row(number).count += count;
    return number;
  }
  int64_t find(std::string_view text, uint64_t hash) const {  // its count; 0 if it is not here
    const uint32_t number =
        index_.find(hash, [&](uint32_t i) { return same_text(row(i).text, text); });
    return number == FlatIndex::kNone ? 0 : row(number).count;
  }
  // Adds only if the text is here.
  void add_to(std::string_view text, uint64_t hash, int64_t count) {
    const uint32_t number = index_.find(hash, [&](uint32_t i) { return row(i).text == text; });
    if (number != FlatIndex::kNone) row(number).count += count;
  }
  void prefetch(uint64_t hash) const { index_.prefetch(hash); }
  size_t size() const { return size_; }
  // In bytes, at the moment of the next `add`: a growing index is there twice, once in double size.
  size_t memory() const { return memory_ + index_.bytes() * (index_.full() ? 3 : 1); }
  template <class Visit>  // visit(text, count), by number
  void each(Visit visit) const {
    for (size_t i = 0; i < size_; breathe(++i)) visit(row(i).text, row(i).count);
  }
  // The rows by rising text; valid while the table stays as it is.
  std::unique_ptr<RowStream> sorted() const { return std::make_unique<Sorted>(*this); }
  void clear() {  // keeps the memory of rows, for the next use
    index_.clear(index_.slots());
    texts_.clear();
    memory_ = rows_.size() * kBlock;
    size_ = text_left_ = 0;
  }

 private:
  static constexpr size_t kBlockRows = 2048;
  static constexpr size_t kBlock = kBlockRows * sizeof(TextCount);
  TextCount& row(size_t i) { return rows_[i / kBlockRows][i % kBlockRows]; }
  const TextCount& row(size_t i) const { return rows_[i / kBlockRows][i % kBlockRows]; }
  void append(std::string_view text, uint64_t hash) {
    try {
      if (size_ == rows_.size() * kBlockRows) {
        rows_.push_back(std::make_unique_for_overwrite<TextCount[]>(kBlockRows));
        memory_ += kBlock;
      }
      row(size_) = {borrows_ ? text : copy(text), 0};
      ++size_;
    } catch (...) {  // no memory: the index must not know what is not there
      index_.take_back(hash, static_cast<uint32_t>(size_));
      throw;
    }
  }
  std::string_view copy(std::string_view text) {
    if (text.size() > text_left_) {
      const size_t size = std::max(kBlock, text.size());
      texts_.push_back(std::make_unique_for_overwrite<char[]>(size));
      memory_ += text_left_ = size;
      text_end_ = texts_.back().get();
    }
    std::memcpy(text_end_, text.data(), text.size());
    text_left_ -= text.size();
    return {std::exchange(text_end_, text_end_ + text.size()), text.size()};
  }

  class Sorted : public RowStream {
   public:
    explicit Sorted(const TextCounts& counts) : counts_(counts), order_(counts.size()) {
      std::vector<std::pair<uint64_t, uint32_t>> keys(counts.size());
      for (uint32_t i = 0; i < keys.size(); ++i) keys[i] = {first_bytes(counts.row(i).text), i};
      sort(keys, [&](const auto& a, const auto& b) {
        if (a.first != b.first) return a.first < b.first;
        return counts.row(a.second).text < counts.row(b.second).text;
      });
      for (size_t i = 0; i < keys.size(); ++i) order_[i] = keys[i].second;
    }
    bool next() override {
      // Rows and texts lie anywhere in memory: they are fetched some rows ahead.
      if (at_ + 2 * kAhead < order_.size())
        __builtin_prefetch(&counts_.row(order_[at_ + 2 * kAhead]));
      if (at_ + kAhead < order_.size())
        __builtin_prefetch(counts_.row(order_[at_ + kAhead]).text.data());
      return ++at_ <= order_.size();
    }
    TextCount row() const override { return counts_.row(order_[at_ - 1]); }

   private:
    static constexpr size_t kAhead = 2;
    const TextCounts& counts_;
    Numbers order_;
    size_t at_ = 0;
  };

  bool borrows_;
  FlatIndex index_;
  std::vector<std::unique_ptr<TextCount[]>> rows_;
  size_t size_ = 0;
  size_t memory_ = 0;  // of rows and texts
  std::vector<std::unique_ptr<char[]>> texts_;
  size_t text_left_ = 0;
  char* text_end_ = nullptr;
};

// The same, cut by hash into parts with a lock each, for many threads. With a limit, a part that
// has filled its share of memory writes its rows to a file and goes on empty; whoever reads such a
// table reads all its rows from the files. Nobody reads it while others add.
class SharedCounts {
 public:
  // Collects the texts of one thread, so that `add` takes each lock once.
  class Batch {
   public:
    void add(std::string_view text, int64_t count) {
      const uint64_t hash = hash_bytes(text);
      rows_[part_of(hash)].push_back({text, count, static_cast<uint32_t>(hash)});
    }
    void clear() {
      for (auto& rows : rows_) rows.clear();
    }

   private:
    friend class SharedCounts;
    struct Row {
      std::string_view text;
      int64_t count;
      uint32_t hash;
    };
    std::array<std::vector<Row>, 64> rows_;
  };

  // From now on the table has at most about so many bytes in memory (but for its smallest size, 6
  // MB); other rows are in files in the folder. Readers merge the files on so many threads.
  void limit(size_t bytes, std::filesystem::path folder, size_t threads) {
    room_ = bytes / (kParts + 8);  // the rest is for sorting, on as many threads as add
    folder_ = std::move(folder);
    threads_ = threads;
  }

  void add(const Batch& batch) {
    // Threads begin at different parts, so that none waits while another writes to its file.
    const size_t first = turns_.fetch_add(1, std::memory_order_relaxed) * 27;
    for (size_t turn = 0; turn < kParts; ++turn) {
      const size_t p = (first + turn) % kParts;
      Part& part = parts_[p];
      const std::lock_guard guard(part.lock);
      const auto& rows = batch.rows_[p];
      for (size_t i = 0; i < rows.size(); ++i) {
        if (i + 8 < rows.size()) part.counts.prefetch(rows[i + 8].hash);
        part.counts.add(rows[i].text, rows[i].hash, rows[i].count);
        if (i % 2048 == 2047 && part.counts.memory() > room_) spill(p);
      }
      if (part.counts.memory() > room_) spill(p);
    }
  }
  // The counts of some texts; 0 if one was never seen.
  Counts find_all(const Texts& texts) const {
    Counts counts;
    if (!spilled()) {
      for (const std::string_view text : texts) counts.push_back(find(text));
      return counts;
    }
    TextCounts wanted(true);
    for (const std::string_view text : texts) wanted.add(text, hash_bytes(text), 0);
    each([&](std::string_view text, int64_t count) {
      wanted.add_to(text, hash_bytes(text), count);
    });
    for (const std::string_view text : texts) counts.push_back(wanted.find(text, hash_bytes(text)));
    return counts;
  }
  size_t size() const {
    if (spilled()) settle();
    size_t total = 0;
    for (const Part& part : parts_)
      total += part.runs.empty() ? part.counts.size() : part.runs[0].rows;
    return total;
  }
  // Calls visit(text, count) for each text, in an order that is the same until more is added. A
  // text is valid during the call; if nothing is in files, while the table stays as it is.
  template <class Visit>
  void each(Visit visit) const {
    if (!spilled()) {
      for (const Part& part : parts_) part.counts.each(visit);
      return;
    }
    settle();
    size_t steps = 0;
    for (size_t p = 0; p < kParts; ++p)
      for (const auto rows = stream(p); rows->next(); breathe(++steps))
        visit(rows->row().text, rows->row().count);
  }
  // Whether rows are in files.
  bool spilled() const {
    return std::any_of(parts_.begin(), parts_.end(), [](const Part& p) { return !p.runs.empty(); });
  }
  // All rows by rising text; valid while the table stays as it is.
  std::unique_ptr<RowStream> sorted() const {
    if (spilled()) settle();
    std::vector<std::unique_ptr<RowStream>> parts;
    for (size_t p = 0; p < kParts; ++p)
      parts.push_back(parts_[p].runs.empty() ? parts_[p].counts.sorted() : stream(p));
    return std::make_unique<RowMerge>(std::move(parts));
  }
  size_t version() const { return turns_; }  // rises when rows are added or removed
  void clear() {
    ++turns_;
    for (Part& part : parts_) {
      part.counts = TextCounts();
      part.runs.clear();
    }
    for (File& file : files_) file.file.reset();
    return_freed_memory();
  }

  template <class Visit>  // the same; the table is empty then
  void drain(Visit visit) {
    if (spilled()) each(visit);
    for (Part& part : parts_) {
      if (part.runs.empty()) part.counts.each(visit);
      part.counts = TextCounts();
    }
    clear();
  }

 private:
  static constexpr size_t kParts = 64;
  static constexpr size_t kFiles = 16;      // a file has the rows of several parts: few are open
  static constexpr size_t kMostRuns = 256;  // of a part: a merge has a block of each in memory
  struct Part {
    std::mutex lock;
    TextCounts counts;
    std::vector<SpillFile::Run> runs;  // of the part's file
  };
  struct File {
    std::mutex lock;
    std::shared_ptr<SpillFile> file;  // shared with those who read it
  };

  static size_t part_of(uint64_t hash) { return hash >> 58; }  // TextCounts uses the low bits
  int64_t find(std::string_view text) const {
    const uint64_t hash = hash_bytes(text);
    return parts_[part_of(hash)].counts.find(text, hash);
  }

  // Moves the rows of a part from memory to its file. If that fails, they stay.
  void spill(size_t p) const {
    Part& part = parts_[p];
    if (part.counts.size() == 0) return;
    File& file = files_[p % kFiles];
    const std::lock_guard guard(file.lock);
    TextCounts empty;  // made first: once the rows are written, nothing may fail
    if (!file.file) file.file = std::make_shared<SpillFile>(folder_);
    part.runs.push_back(file.file->write(*part.counts.sorted()));
    part.counts = std::move(empty);
    if (part.runs.size() == kMostRuns) part.runs = {file.file->write(*stream(p))};
  }
  std::unique_ptr<RowStream> stream(size_t p) const {
    std::vector<std::unique_ptr<RowStream>> runs;
    for (const SpillFile::Run& run : parts_[p].runs)
      runs.push_back(SpillFile::read(files_[p % kFiles].file, run));
    if (runs.size() == 1) return std::move(runs[0]);
    return std::make_unique<RowMerge>(std::move(runs));
  }
  // Leaves all rows in files, those of a part in one run. Readers need that, and change no count.
  void settle() const {
    const std::lock_guard guard(settling_);
    in_parallel(kFiles, threads_, [&](size_t f) { settle(f); }, [] {});
  }
  void settle(size_t f) const {
    bool settled = true;
    for (size_t p = f; p < kParts; p += kFiles) {
      spill(p);
      settled &= parts_[p].runs.size() <= 1;
    }
    if (settled) return;
    auto file = std::make_shared<SpillFile>(folder_);
    std::vector<std::vector<SpillFile::Run>> runs;
    for (size_t p = f; p < kParts; p += kFiles) runs.push_back({file->write(*stream(p))});
    files_[f].file.swap(file);
    for (size_t p = f; p < kParts; p += kFiles) parts_[p].runs.swap(runs[p / kFiles]);
  }

  size_t room_ = SIZE_MAX;  // of a part
  std::filesystem::path folder_;
  size_t threads_ = 1;
  std::atomic<size_t> turns_{0};
  // `mutable`, for the rows of a table with a limit may move from memory to files at any time.
  mutable std::array<Part, kParts> parts_;
  mutable std::array<File, kFiles> files_;
  mutable std::mutex settling_;
};

// A sequence of numbers may be counted as a text: as its bytes, and back.
inline std::string_view as_bytes(const uint32_t* numbers, size_t count) {
  return {reinterpret_cast<const char*>(numbers), count * sizeof(uint32_t)};
}

inline Numbers as_numbers(std::string_view bytes) {
  Numbers numbers(bytes.size() / sizeof(uint32_t));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

}  // namespace supratok
