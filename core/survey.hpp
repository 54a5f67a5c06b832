// How an encoder encodes documents: how often each entry is used, in how many documents, and which
// entries are neighbours how often.
//
// There are far more pairs than fit into memory. So a first reading bounds them in a sketch, and a
// second counts those exactly that may have been seen often enough.
#pragma once

#include "encode.hpp"
#include "pair_sketch.hpp"
#include "text_counts.hpp"

namespace supratok {

class Survey {
 public:
  // With a sketch of 0 bits it ignores pairs.
  Survey(const Encoder& encoder, int sketch_bits)
      : uses(encoder.size()), documents(encoder.size()), encoder_(encoder) {
    if (sketch_bits) pairs.emplace(sketch_bits);
  }

  void add(const Texts& texts) {
    Counts seen(uses.size()), within(uses.size());
    std::vector<size_t> last(uses.size());  // the last text, counted from 1, that held the entry
    std::optional<PairSketch::Adder> adder;
    if (pairs) adder.emplace(*pairs);
    for (size_t t = 0; t < texts.size(); ++t)
      each_entry(texts[t], [&](uint32_t before, uint32_t entry) {
        if (entry == kNone) return;
        ++seen[entry];
        within[entry] += last[entry] != t + 1;
        last[entry] = t + 1;
        if (adder && before != kNone) adder->add(before, entry);
      });
    const std::lock_guard guard(lock_);
    for (size_t i = 0; i < uses.size(); ++i) {
      uses[i] += seen[i];
      documents[i] += within[i];
    }
  }

  static constexpr uint32_t kNone = Encoder::kNone;
  // Calls visit(entry before, entry) for each token of the text; kNone is a byte, or no token.
  template <class Visit>
  void each_entry(std::string_view text, Visit visit) const {
    static thread_local Numbers ids;
    ids.clear();
    encoder_.encode(text, ids);
    uint32_t before = kNone;
    for (const uint32_t id : ids) {
      const uint32_t place = encoder_.place_of(id);
      const uint32_t entry = place < 256 ? kNone : place - 256;
      visit(std::exchange(before, entry), entry);
    }
  }

  Counts uses, documents;  // by entry
  std::optional<PairSketch> pairs;

 private:
  const Encoder& encoder_;
  std::mutex lock_;
};

// Counts the pairs of neighbouring entries that the survey may have seen `floor` times or more.
class Neighbours {
 public:
  Neighbours(const Survey& survey, uint32_t floor) : survey_(survey), floor_(floor) {
    if (!survey.pairs) throw std::invalid_argument("the survey has no sketch of pairs");
  }

  void add(const Texts& texts) {
    static thread_local SharedCounts::Batch batch;
    std::vector<std::array<uint32_t, 2>> found;
    for (const std::string_view text : texts)
      survey_.each_entry(text, [&](uint32_t before, uint32_t entry) {
        if (before != Survey::kNone && entry != Survey::kNone &&
            survey_.pairs->bound(before, entry) >= floor_)
          found.push_back({before, entry});
      });
    batch.clear();
    for (const auto& pair : found) batch.add(as_bytes(pair.data(), 2), 1);
    pairs.add(batch);
  }

  // Whether bytes from outside can be a pair.
  bool fits(std::string_view bytes) const {
    if (bytes.size() != 2 * sizeof(uint32_t)) return false;
    const Numbers pair = as_numbers(bytes);
    return std::max(pair[0], pair[1]) < survey_.uses.size();
  }

  // Left entries, right entries and counts of the pairs that were indeed seen so often: most
  // frequent first, equals by left, then right.
  std::tuple<Numbers, Numbers, Counts> rows() const {
    std::vector<std::tuple<int64_t, uint32_t, uint32_t>> found;
    pairs.each([&](std::string_view key, int64_t count) {
      const Numbers pair = as_numbers(key);
      if (count >= floor_) found.emplace_back(-count, pair[0], pair[1]);
    });
    sort(found, std::less());
    Numbers lefts, rights;
    Counts counts;
    for (const auto& [minus_count, left, right] : found) {
      lefts.push_back(left);
      rights.push_back(right);
      counts.push_back(-minus_count);
    }
    return {std::move(lefts), std::move(rights), std::move(counts)};
  }

  SharedCounts pairs;

 private:
  const Survey& survey_;
  uint32_t floor_;
};

}  // namespace supratok
