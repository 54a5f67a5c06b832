#include "bigrams.hpp"

#include <utility>

namespace supratok {

Bigrams::Bigrams(const SharedCounts& words, const std::vector<uint8_t>& scripts) : slots_(1 << 12) {
  for (const uint8_t script : scripts) scripts_[script] = true;
  words.each([&](std::string_view text, int64_t count) {
    if (!covers(text)) return;
    uint32_t before = ' ';
    for (size_t i = 0; i < text.size(); i += char_bytes(text[i])) {
      const uint32_t code = decode_char(text.data() + i);
      if (before != ' ') add(key(before, code), count);
      before = code;
    }
  });
}

int64_t Bigrams::count(uint32_t left, uint32_t right) const {
  return slots_[find(key(left, right))].count;
}

Bigrams::Total Bigrams::below(int64_t count) const {
  Total total{0, 0};
  for (const Slot& slot : slots_) {
    if (!slot.bigram || slot.count >= count) continue;
    ++total.bigrams;
    total.occurrences += slot.count;
  }
  return total;
}

size_t Bigrams::find(uint64_t bigram) const {
  const size_t mask = slots_.size() - 1;
  size_t i = mix(bigram) & mask;
  while (slots_[i].bigram && slots_[i].bigram != bigram) i = (i + 1) & mask;
  return i;
}

void Bigrams::add(uint64_t bigram, int64_t count) {
  if (used_ * 2 >= slots_.size()) {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.bigram) slots_[find(slot.bigram)] = slot;
  }
  Slot& slot = slots_[find(bigram)];
  used_ += !slot.bigram;
  slot.bigram = bigram;
  slot.count += count;
}

}  // namespace supratok
