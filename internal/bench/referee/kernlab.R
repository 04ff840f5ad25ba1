# Trains kernlab's ksvm for internal/bench/referee: CSV file, gamma, C, output folder.
suppressMessages(library(kernlab))
a <- commandArgs(TRUE)
d <- as.matrix(read.csv(a[1], header = FALSE))
m <- ksvm(d[, -1], factor(d[, 1]), kernel = "rbfdot", kpar = list(sigma = as.numeric(a[2])), C = as.numeric(a[3]), scaled = FALSE)
at <- alphaindex(m)[[1]]
coef <- coef(m)[[1]]
sv <- d[at, -1, drop = FALSE]
# ksvm's f is Σ coef K − b; a positive f is of the first level of its classes.
f <- function(v) paste0("[", paste(sprintf("%.17g", v), collapse = ","), "]")
side <- predict(m, sv, type = "decision")[1] > 0
first <- as.character(predict(m, sv[1, , drop = FALSE])) == lev(m)[2]
flip <- if (side == first) 1 else -1
cat(sprintf('{"kernel":"rbf","gamma":%.17g,"degree":3,"coef0":0,"classes_":[%s],"support_vectors_":[%s],"dual_coef_":[%s],"intercept_":[%.17g]}',
    as.numeric(a[2]), paste(lev(m), collapse = ","), paste(apply(sv, 1, f), collapse = ","), f(flip * coef), -flip * b(m)), file = file.path(a[4], "kernlab.json"))
