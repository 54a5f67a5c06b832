// What a table knows of each word in the blocks of a store: found out once for all blocks, where
// the words are numbered, and once a block for the others.
#pragma once

#include "store.hpp"

namespace supratok {

// `Known` has a member `list`: nullptr, or the numbers that table.look_up(word, numbers) appended.
template <class Known>
class KnownWords {
 public:
  // Looks the words of a lexicon up, for the blocks that have its numbers.
  template <class Table>
  void prepare(const Lexicon& lexicon, size_t threads, const Table& table) {
    if (lexicon_ == lexicon.id) return;
    std::vector<Known> known(lexicon.end());
    std::vector<Numbers> lists(Lexicon::kParts);
    const auto work = [&](size_t p) {
      Listed listed;
      lexicon.each(p, [&](uint32_t number, std::string_view word) {
        known[number] = found(word, number, lists[p], listed, table);
      });
      link(known, lists[p], listed);
    };
    in_parallel(Lexicon::kParts, threads, work, [] {});
    known_ = std::move(known);
    lists_ = std::move(lists);
    lexicon_ = lexicon.id;
  }

  // By place among the words of the block. `lists` must outlive it.
  template <class Table>
  std::vector<Known> of(const Block& block, Numbers& lists, const Table& table) const {
    std::vector<Known> known(block.words.size());
    Listed listed;
    const auto numbered = [&](size_t i) {
      return i < known.size() && block.numbers && block.numbers[i] < known_.size();
    };
    for (size_t i = 0; i < known.size(); breathe(++i)) {
      if (numbered(i + kAhead)) __builtin_prefetch(&known_[block.numbers[i + kAhead]]);
      known[i] =
          numbered(i) ? known_[block.numbers[i]] : found(block.words[i], i, lists, listed, table);
    }
    link(known, lists, listed);
    return known;
  }

 private:
  using Listed = std::vector<std::pair<size_t, size_t>>;  // words, and where their numbers begin
  template <class Table>
  static Known found(std::string_view word, size_t place, Numbers& lists, Listed& listed,
                     const Table& table) {
    const size_t start = lists.size();
    const Known known = table.look_up(word, lists);
    if (lists.size() > start) listed.emplace_back(place, start);
    return known;
  }
  // When all numbers are listed, and stay where they are.
  static void link(std::vector<Known>& known, const Numbers& lists, const Listed& listed) {
    for (const auto& [place, start] : listed) known[place].list = &lists[start];
  }

  static constexpr size_t kAhead = 16;
  uint64_t lexicon_ = 0;
  std::vector<Known> known_;  // by number
  std::vector<Numbers> lists_;
};

}  // namespace supratok
