// The files bind*.cpp are the only ones that know Python: arguments in, results out.
#include "bind.hpp"

NB_MODULE(_core, m) {
  m.doc() = "The mechanism of supratok: counting, merging, encoding.";
  supratok::bind_text(m);
  supratok::bind_words(m);
  supratok::bind_encode(m);
  supratok::bind_merge(m);
  supratok::bind_spans(m);
}
