#include "survey.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <tuple>

namespace supratok {
namespace {

constexpr uint32_t kBytes = 256;

// Calls visit(entry) for each token of the text, with kNone for a byte.
template <class Visit>
void each_entry(const Encoder& encoder, std::string_view text, std::vector<uint32_t>& ids,
                Visit visit) {
  ids.clear();
  encoder.encode(text, ids);
  for (const uint32_t id : ids) {
    const uint32_t place = encoder.place_of(id);
    visit(place < kBytes ? Encoder::kNone : place - kBytes);
  }
}

}  // namespace

Survey::Survey(const Encoder& encoder, int sketch_bits)
    : uses(encoder.states().size()), documents(encoder.states().size()), encoder_(encoder) {
  if (sketch_bits) pairs.emplace(sketch_bits);
}

void Survey::add(const std::vector<std::string_view>& texts) {
  std::vector<int64_t> seen(uses.size()), within(uses.size());
  std::vector<size_t> last(uses.size());  // the last text, counted from 1, that held the entry
  std::vector<uint32_t> ids;
  for (size_t t = 0; t < texts.size(); ++t) {
    uint32_t before = Encoder::kNone;
    each_entry(encoder_, texts[t], ids, [&](uint32_t entry) {
      if (entry != Encoder::kNone) {
        ++seen[entry];
        within[entry] += last[entry] != t + 1;
        last[entry] = t + 1;
        if (pairs && before != Encoder::kNone) pairs->add(pairs->place(before, entry));
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
  if (!survey.pairs) throw std::invalid_argument("the survey did not look at pairs");
}

void Neighbours::add(const std::vector<std::string_view>& texts) {
  static thread_local SharedCounts::Batch batch;
  std::vector<std::array<uint32_t, 2>> found;
  std::vector<uint32_t> ids;
  for (const std::string_view text : texts) {
    uint32_t before = Encoder::kNone;
    each_entry(encoder_, text, ids, [&](uint32_t entry) {
      if (before != Encoder::kNone && entry != Encoder::kNone &&
          survey_.pairs->bound(before, entry) >= floor_)
        found.push_back({before, entry});
      before = entry;
    });
  }
  batch.clear();
  for (const auto& pair : found) {
    const std::string_view key = run_bytes(pair.data(), 2);
    batch.add(key, hash_bytes(key), 1);
  }
  counts_.add(batch);
}

std::vector<Neighbours::Row> Neighbours::rows() const {
  std::vector<Row> all;
  counts_.each([&](std::string_view key, int64_t count) {
    const std::vector<uint32_t> pair = run_words(key);
    if (count >= floor_) all.push_back({pair[0], pair[1], count});
  });
  std::sort(all.begin(), all.end(), [](const Row& a, const Row& b) {
    return std::tuple(-a.count, a.left, a.right) < std::tuple(-b.count, b.left, b.right);
  });
  return all;
}

}  // namespace supratok
