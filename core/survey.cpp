#include "survey.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace supratok {
namespace {

constexpr uint32_t kBytes = 256;
constexpr uint32_t kNone = Encoder::kNone;

// Calls visit(entry) for each token of the text, with kNone for a byte.
template <class Visit>
void each_entry(const Encoder& encoder, std::string_view text, std::vector<uint32_t>& ids,
                Visit visit) {
  ids.clear();
  encoder.encode(text, ids);
  for (const uint32_t id : ids) {
    const uint32_t place = encoder.place_of(id);
    visit(place < kBytes ? kNone : place - kBytes);
  }
}

}  // namespace

Survey::Survey(const Encoder& encoder, int sketch_bits)
    : uses(encoder.size()), documents(encoder.size()), encoder_(encoder) {
  if (sketch_bits) pairs.emplace(sketch_bits);
}

void Survey::add(const Texts& texts) {
  std::vector<int64_t> seen(uses.size()), within(uses.size());
  std::vector<size_t> last(uses.size());  // the last text, counted from 1, that held the entry
  std::vector<uint32_t> ids;
  std::optional<PairSketch::Adder> adder;
  if (pairs) adder.emplace(*pairs);
  for (size_t t = 0; t < texts.size(); ++t) {
    uint32_t before = kNone;
    each_entry(encoder_, texts[t], ids, [&](uint32_t entry) {
      if (entry != kNone) {
        ++seen[entry];
        within[entry] += last[entry] != t + 1;
        last[entry] = t + 1;
        if (adder && before != kNone) adder->add(before, entry);
      }
      before = entry;
    });
  }
  const std::lock_guard guard(lock_);
  for (size_t i = 0; i < uses.size(); ++i) {
    uses[i] += seen[i];
    documents[i] += within[i];
  }
}

Neighbours::Neighbours(const Encoder& encoder, const Survey& survey, uint32_t floor)
    : encoder_(encoder), survey_(survey), floor_(floor) {
  if (!survey.pairs) throw std::invalid_argument("the survey has no sketch of pairs");
}

void Neighbours::add(const Texts& texts) {
  static thread_local SharedCounts::Batch batch;
  std::vector<std::array<uint32_t, 2>> found;
  std::vector<uint32_t> ids;
  for (const std::string_view text : texts) {
    uint32_t before = kNone;
    each_entry(encoder_, text, ids, [&](uint32_t entry) {
      if (before != kNone && entry != kNone && survey_.pairs->bound(before, entry) >= floor_)
        found.push_back({before, entry});
      before = entry;
    });
  }
  batch.clear();
  for (const auto& pair : found) batch.add(as_bytes(pair.data(), 2), 1);
  counts_.add(batch);
}

std::tuple<std::vector<uint32_t>, std::vector<uint32_t>, std::vector<int64_t>> Neighbours::rows()
    const {
  std::vector<std::tuple<int64_t, uint32_t, uint32_t>> all;
  counts_.each([&](std::string_view key, int64_t count) {
    const std::vector<uint32_t> pair = as_numbers(key);
    if (count >= floor_) all.emplace_back(-count, pair[0], pair[1]);
  });
  std::sort(all.begin(), all.end());
  std::tuple<std::vector<uint32_t>, std::vector<uint32_t>, std::vector<int64_t>> columns;
  for (const auto& [less_count, left, right] : all) {
    std::get<0>(columns).push_back(left);
    std::get<1>(columns).push_back(right);
    std::get<2>(columns).push_back(-less_count);
  }
  return columns;
}

}  // namespace supratok
