// The files bind*.cpp are the only ones that know Python: arguments in, results out.
#include "bind.hpp"

#include <cstdlib>

NB_MODULE(_core, m) {
  m.doc() = "The mechanism of supratok: counting, merging, encoding.";
  // A program may exit while a daemon thread uses the core: that is no leak to report.
  nanobind::set_leak_warnings(std::getenv("SUPRATOK_LEAK_WARNINGS") != nullptr);
  supratok::claim_variables();
  supratok::bind_rows(m);
  supratok::bind_text(m);
  supratok::bind_lines(m);
  supratok::bind_store(m);
  supratok::bind_words(m);
  supratok::bind_encode(m);
  supratok::bind_boundaries(m);
  supratok::bind_tokens(m);
  supratok::bind_merge(m);
  supratok::bind_spans(m);
}
