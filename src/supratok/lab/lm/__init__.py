"""Train and measure small language models over any tokenizer. May import: everything but cli.

To train: `coder` (a tokenizer as a model uses it), `stream`, `model`, `precision`, `loss`,
`parts` and `aids` (training aids), `training`, `experiment` (one model from text to figures).
To measure: `bits`, `likelihood`, `tasks` (HellaSwag, MMLU), `generation`, `seeds`, `energy`.
To keep: `saving`. To tune recipes: `validation`.
"""
