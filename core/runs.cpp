#include "runs.hpp"

namespace supratok {

constexpr uint32_t kNone = WordIndex::kNone;
constexpr uint32_t kUnbounded = 0xffffffffu;

// Calls visit(place, bound) for each unit of a document, where `bound` limits how often the unit
// was seen behind the one before; 0 if they may not join. A place of kNone ends a run.
template <class Visit>
void RunTable::each_unit(std::string_view document, std::vector<uint32_t>& ids, Visit visit) const {
  WordReader reader(document, joints_.by_class());
  Word word, before{};
  uint64_t before_hash = 0;
  uint32_t last = kNone;  // the unit before
  const auto unit = [&](uint32_t place, bool may_join, uint32_t bound) {
    if (unit_pairs_ && may_join && last != kNone && place != kNone)
      bound = unit_pairs_->bound(last, place);
    visit(place, may_join && last != kNone ? bound : 0);
    last = place;
  };
  while (reader.next(word)) {
    const uint64_t hash = hash_bytes(word.text);
    const uint32_t place = word.joinable() ? known_.find(word.text, hash) : kNone;
    const bool may_join = last != kNone && joints_.allow(before, word);
    if (place == kNone && word.joinable() && pieces_.encoder && pieces_.scripts[word.script]) {
      ids.clear();
      pieces_.encoder->encode(word.text, ids);
      for (size_t i = 0; i < ids.size(); ++i) {
        const std::string_view piece = pieces_.encoder->bytes_of(ids[i]);
        unit(known_.find(piece, hash_bytes(piece)), i > 0 || may_join, kUnbounded);
      }
    } else {
      const bool bounded = place != kNone && may_join && !unit_pairs_;
      unit(place, may_join, bounded ? pairs_.bound(before_hash, hash) : kUnbounded);
    }
    before = word;
    before_hash = hash;
  }
}

void RunTable::add(const Texts& documents) {
  static thread_local SharedCounts::Batch batch;
  static thread_local std::vector<uint32_t> units;  // of all runs found here, end to end
  static thread_local std::vector<size_t> starts;   // of each run, among them
  static thread_local std::vector<uint32_t> ids;
  batch.clear();
  units.clear();
  starts.assign(1, 0);
  const auto close = [&] {
    if (units.size() - starts.back() > 1)
      starts.push_back(units.size());
    else
      units.resize(starts.back());  // a unit by itself has nothing to join
  };
  for (const std::string_view document : documents) {
    each_unit(document, ids, [&](uint32_t place, uint32_t bound) {
      if (place == kNone || bound < floor_) close();
      if (place != kNone) units.push_back(place);
    });
    close();
  }
  for (size_t i = 0; i + 1 < starts.size(); ++i)
    batch.add(as_bytes(&units[starts[i]], starts[i + 1] - starts[i]), 1);
  runs.add(batch);
}

void UnitPairs::add(const Texts& documents) {
  std::vector<uint32_t> ids;
  std::vector<int64_t> seen(uses.size());
  PairSketch::Adder adder(*pairs);
  for (const std::string_view document : documents) {
    uint32_t last = kNone;
    table_.each_unit(document, ids, [&](uint32_t place, uint32_t bound) {
      if (place != kNone) ++seen[place];
      if (place != kNone && bound > 0) adder.add(last, place);
      last = place;
    });
  }
  const std::lock_guard guard(lock_);
  for (size_t i = 0; i < seen.size(); ++i) uses[i] += seen[i];
}

}  // namespace supratok
