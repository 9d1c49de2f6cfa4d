# The regressions of reading_times.py in R, on the words that it wrote:
#
#   Rscript examples/reading_times.R study/words-measured0.tsv
#
# lm() is the regression of reading_times.py; lmer() adds a random intercept for each story. With the
# times of single readers use lmer too, with (1 + surprisal | subject) + (1 | story) in place of it.

suppressPackageStartupMessages(library(lme4))

lagged <- function(names, lags = 0:2) {
  unlist(lapply(names, function(name) c(name, paste0(name, "_", lags[lags > 0]))))
}

formula_of <- function(predictors, random = NULL) {
  as.formula(paste("log_time ~", paste(c(predictors, random), collapse = " + ")))
}

compare <- function(words, name, base, added) {
  small <- lm(formula_of(base), words)
  large <- lm(formula_of(c(base, added)), words)
  mixed_small <- lmer(formula_of(base, "(1 | story)"), words, REML = FALSE)
  mixed_large <- lmer(formula_of(c(base, added), "(1 | story)"), words, REML = FALSE)
  data.frame(
    comparison = name,
    df = length(added),
    lm_slope = coef(large)[[added[1]]],
    lm_chi2 = 2 * as.numeric(logLik(large) - logLik(small)),
    lmer_slope = fixef(mixed_large)[[added[1]]],
    lmer_chi2 = anova(mixed_small, mixed_large)$Chisq[2],
    lmer_p = anova(mixed_small, mixed_large)$`Pr(>Chisq)`[2]
  )
}

words <- read.delim(commandArgs(trailingOnly = TRUE)[1])
# lmer wants predictors of like sizes; slopes are those of the columns as they are.
for (name in c("position", "story_position")) words[[name]] <- words[[name]] / 100
words$story <- factor(words$story)

lags <- 0:sum(grepl("^surprisal_[0-9]+$", names(words)))
with_lags <- function(...) lagged(c(...), lags)
baseline <- c(with_lags("length", "log_frequency", "tokens"), "position", "story_position", "last")

found <- rbind(
  compare(words, "surprisal", baseline, with_lags("surprisal")),
  compare(words, "depth", baseline, with_lags("depth")),
  compare(words, "fork and join", baseline, with_lags("fork", "join")),
  compare(words, "surprisal, shuffled", baseline, with_lags("shuffled"))
)
if ("ngram" %in% names(words)) {
  found <- rbind(
    found,
    compare(words, "n-gram surprisal", baseline, with_lags("ngram")),
    compare(words, "surprisal over n-gram", c(baseline, with_lags("ngram")), with_lags("surprisal"))
  )
}
print(found, digits = 6, row.names = FALSE)
