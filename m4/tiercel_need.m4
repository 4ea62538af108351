# SPDX-License-Identifier: BSD-3-Clause
#
# TIERCEL_NEED(VARIABLE, MODULES, PACKAGES)
#
# Takes the first of the pkg-config MODULES (a list with blanks) that is installed and sets VARIABLE_CFLAGS,
# VARIABLE_LIBS and VARIABLE_MODULE. When there is none, PACKAGES is added to TIERCEL_MISSING, so that configure can
# name everything that is missing at once.
AC_DEFUN([TIERCEL_NEED], [
  AC_REQUIRE([PKG_PROG_PKG_CONFIG])
  AC_MSG_CHECKING([for $1])
  $1_MODULE=
  for module in $2; do
    AS_IF([$PKG_CONFIG --exists "$module"], [$1_MODULE=$module; break])
  done
  AS_IF([test -n "$$1_MODULE"],
        [$1_CFLAGS=`$PKG_CONFIG --cflags "$$1_MODULE"`
         $1_LIBS=`$PKG_CONFIG --libs "$$1_MODULE"`
         AC_MSG_RESULT([$$1_MODULE `$PKG_CONFIG --modversion "$$1_MODULE"`])],
        [TIERCEL_MISSING="$TIERCEL_MISSING $3"
         AC_MSG_RESULT([no])])
  AC_SUBST([$1_CFLAGS])
  AC_SUBST([$1_LIBS])
])
