// How an encoder encodes documents: how often each entry is used, in how many documents, and which
// entries are neighbours how often.
//
// There are far more pairs than fit into memory. So a first reading bounds them in a sketch, and a
// second counts those exactly that may have been seen often enough.
#pragma once

#include "pair_sketch.hpp"
#include "word_levels.hpp"

namespace supratok {

// Documents as entries of an encoder, in the blocks of a store: for each token its entry plus one;
// 0 is a byte.
class Encoded {
 public:
  Encoded(std::filesystem::path folder, uint64_t memory) : store(std::move(folder), true, memory) {}
  Store store;
};

class Survey {
 public:
  static constexpr uint32_t kNone = Encoder::kNone;

  // With a sketch of 0 bits it ignores pairs.
  Survey(const Encoder& encoder, int sketch_bits)
      : uses(encoder.size()), documents(encoder.size()), encoder_(encoder) {
    if (sketch_bits) pairs.emplace(sketch_bits);
    if (encoder.levels()) words_.emplace(*encoder.levels());
  }

  void prepare(const Lexicon& lexicon, size_t threads) {
    if (words_) words_->prepare(lexicon, threads);
  }
  // `source` is texts or a block. `keep` receives the encodings.
  template <class Source>
  void add(const Source& source, Encoded* keep = nullptr) {
    struct Tally {
      uint32_t seen = 0, documents = 0, last = 0;  // the last document, from 1, that held the entry
    };
    std::vector<Tally> tallies(uses.size());
    std::optional<PairSketch::Adder> adder;
    if (pairs) adder.emplace(*pairs);
    BlockWriter writer;
    Sizes sizes;
    uint32_t document = 0;
    each_encoding(source, [&](const Numbers& entries) {
      ++document;
      uint32_t before = kNone;
      for (size_t i = 0; i < entries.size(); ++i) {
        if (i + kAhead < entries.size() && entries[i + kAhead] != kNone)
          __builtin_prefetch(&tallies[entries[i + kAhead]], 1);
        const uint32_t entry = entries[i];
        if (keep) writer.add(entry == kNone ? 0 : entry + 1);
        if (entry != kNone) {
          Tally& tally = tallies[entry];
          ++tally.seen;
          tally.documents += tally.last != document;
          tally.last = document;
          if (adder && before != kNone) adder->add(before, entry);
        }
        before = entry;
      }
      writer.end_document();
    });
    if (keep) keep->store.add(writer.finish(sizes), sizes);
    const std::lock_guard guard(lock_);
    for (size_t i = 0; i < uses.size(); ++i) {
      uses[i] += tallies[i].seen;
      documents[i] += tallies[i].documents;
    }
  }

  // Adds what another survey counted.
  void add_counts(const Counts& seen, const Counts& within) {
    if (seen.size() != uses.size() || within.size() != uses.size())
      throw std::invalid_argument("as many counts as entries");
    const std::lock_guard guard(lock_);
    for (size_t i = 0; i < uses.size(); ++i) {
      uses[i] += seen[i];
      documents[i] += within[i];
    }
  }

  // Calls visit(entries) for the encoding of each document; kNone is a byte.
  template <class Visit>
  void each_encoding(const Texts& texts, Visit visit) const {
    Numbers entries;
    for (const std::string_view text : texts) {
      entries.clear();
      encoder_.encode(text, entries);
      for (uint32_t& entry : entries) {
        const uint32_t place = encoder_.place_of(entry);
        entry = place < 256 ? kNone : place - 256;
      }
      visit(static_cast<const Numbers&>(entries));
    }
  }
  template <class Visit>
  void each_encoding(const Block& block, Visit visit) const {
    if (!words_) {
      std::string room;
      return each_encoding(block.texts(room), visit);
    }
    Numbers entries;
    WordLevels::Words words(*words_, block);
    block.each_document([&](const Numbers& numbers) {
      entries.clear();
      words.encode(numbers, entries);
      visit(static_cast<const Numbers&>(entries));
    });
  }

  Counts uses, documents;  // by entry
  std::optional<PairSketch> pairs;

 private:
  static constexpr size_t kAhead = 12;
  const Encoder& encoder_;
  std::optional<WordLevels> words_;
  std::mutex lock_;
};

// Counts the pairs of neighbouring entries that the survey may have seen `floor` times or more.
class Neighbours {
 public:
  Neighbours(const Survey& survey, uint32_t floor) : survey_(survey), floor_(floor) {
    if (!survey.pairs) throw std::invalid_argument("the survey has no sketch of pairs");
  }

  template <class Source>
  void add(const Source& source) {
    Pairs found;
    survey_.each_encoding(source, [&](const Numbers& entries) { find(entries, found); });
    add(found);
  }
  // A block of encodings, which the survey kept.
  void add_encoded(const Block& block) {
    Pairs found;
    Numbers entries;
    block.each_document([&](const Numbers& numbers) {
      entries = numbers;
      for (uint32_t& entry : entries) entry = entry ? entry - 1 : Survey::kNone;
      find(entries, found);
    });
    add(found);
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
  using Pairs = std::vector<std::array<uint32_t, 2>>;
  void find(const Numbers& entries, Pairs& found) const {
    const PairSketch& bounds = *survey_.pairs;
    Scratch<size_t, 3> scratch(entries.size());
    size_t* const places = scratch.values.data();
    for (size_t i = 1; i < entries.size(); ++i)
      bounds.prefetch(places[i] = bounds.place(entries[i - 1], entries[i]));
    for (size_t i = 1; i < entries.size(); ++i)
      if (entries[i - 1] != Survey::kNone && entries[i] != Survey::kNone &&
          bounds.at(places[i]) >= floor_)
        found.push_back({entries[i - 1], entries[i]});
  }
  void add(const Pairs& found) {
    static thread_local SharedCounts::Batch batch;
    batch.clear();
    for (const auto& pair : found) batch.add(as_bytes(pair.data(), 2), 1);
    pairs.add(batch);
  }

  const Survey& survey_;
  uint32_t floor_;
};

}  // namespace supratok
