// A sample of documents that depends on their texts alone.
#pragma once

#include <atomic>
#include <limits>

#include "blake2b.hpp"
#include "text.hpp"

namespace supratok {

inline uint64_t digest_of(std::string_view text) {
  return Blake2b::digest(text);
}

// A number that depends on the text alone and is independent of its digest, which decides what is
// held out, and of what curation drops.
inline uint64_t sample_chance(uint64_t digest) {
  char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(digest >> (56 - 8 * i));
  return Blake2b::digest({bytes, 8}, "sample");
}

// Finds the limit of a sample: the documents with a chance up to it, of which there are as many as
// fit. Equal texts have equal chances: they are all in the sample or none is. Those with the lowest
// chance of all always are. Memory grows with the sample, not with the corpus.
class Sampler {
 public:
  Sampler(std::optional<uint64_t> documents, std::optional<uint64_t> bytes)
      : most_documents_(documents.value_or(kAll)), most_bytes_(bytes.value_or(kAll)) {}

  void add(const Texts& texts) {
    std::vector<Row> rows;
    const uint64_t limit = limit_;
    for (const std::string_view text : texts)
      if (const uint64_t chance = sample_chance(digest_of(text)); chance <= limit)
        rows.push_back({chance, text.size()});
    const std::lock_guard guard(lock_);
    for (const Row& row : rows) {
      if (row.chance > limit_) continue;
      rows_.push_back(row);
      std::push_heap(rows_.begin(), rows_.end(), less);
      lowest_ = std::min(lowest_, row.chance);
      bytes_ += row.bytes;
      while (rows_.size() > most_documents_ || bytes_ > most_bytes_)
        if (!drop_highest()) break;
    }
  }

  // The highest chance in the sample; none: all documents are in it.
  std::optional<uint64_t> limit() const {
    const uint64_t limit = limit_;
    return limit == kAll ? std::nullopt : std::optional(limit);
  }

 private:
  static constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
  struct Row {
    uint64_t chance, bytes;
  };
  static bool less(const Row& a, const Row& b) { return a.chance < b.chance; }

  // Unless only the lowest are left.
  bool drop_highest() {
    const uint64_t highest = rows_.front().chance;
    if (highest == lowest_) return false;
    while (rows_.front().chance == highest) {
      bytes_ -= rows_.front().bytes;
      std::pop_heap(rows_.begin(), rows_.end(), less);
      rows_.pop_back();
    }
    limit_ = highest - 1;
    return true;
  }

  uint64_t most_documents_, most_bytes_;
  std::mutex lock_;
  std::vector<Row> rows_;  // a heap, the highest chance first. Invariant: all up to the limit
  uint64_t bytes_ = 0, lowest_ = kAll;
  std::atomic<uint64_t> limit_{kAll};
};

}  // namespace supratok
