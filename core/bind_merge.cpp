// Sequences and the merge loop.

#include "bind.hpp"
#include "merge.hpp"
#include "runs.hpp"

namespace supratok {
namespace {

constexpr uint32_t kNoLimit = Limits::kNoLimit;
constexpr size_t kShare = 4096;  // places: measured with 2 and 16 cores

Work work(size_t threads, size_t share) {
  if (!threads || !share) throw nb::value_error("threads and share must be at least 1");
  return {std::min<size_t>(threads, 256), share};
}

Sequences of_words(WordTable& words, const Numbers& alphabet, const Bigrams* bigrams, int64_t gate,
                   const Texts& changes, const Counts& by) {
  check_sizes(changes, by);
  const Unlocked released;
  TextCounts changed(true);
  for (size_t i = 0; i < changes.size(); ++i)
    changed.add(changes[i], hash_bytes(changes[i]), by[i]);
  return Sequences::of_words(words.words, alphabet, bigrams, gate, changed);
}

}  // namespace

void bind_merge(nb::module_& m) {
  nb::class_<Limits>(m, "Limits")
      .def(
          "__init__",
          [](Limits* self, uint32_t bytes, uint32_t words, uint32_t digits, uint32_t spaces,
             uint32_t digits_in_row, bool one_script, const Strings& names) {
            new (self) Limits{bytes,
                              words,
                              digits,
                              spaces,
                              digits_in_row,
                              one_script,
                              {names.begin(), names.end()}};
          },
          nb::kw_only(), "bytes"_a, "words"_a = kNoLimit, "digits"_a = kNoLimit,
          "spaces"_a = kNoLimit, "digits_in_row"_a = kNoLimit, "one_script"_a = false,
          "names"_a = nb::list());

  nb::class_<Sequences>(m, "Sequences")
      .def_static("of_words", &of_words, "words"_a, "alphabet"_a, "bigrams"_a = nb::none(),
                  "gate"_a = 0, "changes"_a = nb::list(), "by"_a = nb::list(),
                  "Cuts words at characters outside the alphabet and at bigrams rarer than the "
                  "gate. Adds `by` to the counts of the words in `changes`, but not in the table.")
      .def_static(
          "of_runs", [](RunTable& runs) { return Sequences::of_runs(runs.runs, true); }, "runs"_a,
          Released(), "Empties the table.")
      .def("__len__", [](const Sequences& self) { return self.cells.size(); });

  nb::class_<Merger>(m, "Merger")
      .def_static(
          "over_characters",
          [](Sequences& words, const Numbers& alphabet, const Limits& limits, int64_t min_count,
             size_t threads, size_t share) {
            return Merger::over_characters(std::exchange(words, {}), alphabet, limits, min_count,
                                           work(threads, share));
          },
          "words"_a, "alphabet"_a, "limits"_a, "min_count"_a, "threads"_a = 1, "share"_a = kShare,
          Released(), "Empties `words`. A pair with fewer than `share` places is for one thread.")
      .def_static(
          "over_words",
          [](Sequences& runs, const Strings& words, const Limits& limits, int64_t min_count,
             bool by_class, std::vector<double> weights, double threshold, const Strings& exempt,
             size_t threads, size_t share) {
            Screen screen{std::move(weights), threshold, {exempt.begin(), exempt.end()}};
            return Merger::over_words(std::exchange(runs, {}), words, by_class, limits, min_count,
                                      std::move(screen), work(threads, share));
          },
          "runs"_a, "words"_a, "limits"_a, "min_count"_a, "by_class"_a = true,
          "weights"_a = nb::list(), "threshold"_a = 0.0, "exempt"_a = nb::list(), "threads"_a = 1,
          "share"_a = kShare, Released(),
          "Over runs of these words, with which the runs were counted. Empties `runs`.")
      .def("run", &Merger::run, "count"_a, Released())
      .def("texts", &Merger::texts, "The texts of the merges made so far, in order.")
      .def("counts", &Merger::counts)
      .def("parts", &Merger::parts,
           "The symbols that each merge joined: first those given, then the merges, in order.")
      .def("usage", &Merger::usage, Released(),
           "How often each symbol occurs in the sequences now.")
      .def("candidates", &Merger::candidates)
      .def("screened", &Merger::screened);
}

}  // namespace supratok
