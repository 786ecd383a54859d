/* declare.h -- what declarations are enclosed in, and marked with. */
#ifndef NSX_BASE_DECLARE_H
#define NSX_BASE_DECLARE_H

/* Encloses the declarations of a header: they are C for C++ programs too. */
#ifdef __cplusplus
#define NSX_BEGIN_C extern "C" {
#define NSX_END_C   }
#else
#define NSX_BEGIN_C
#define NSX_END_C
#endif

/* A function whose parameter number fmt is a format of those from number args on. */
#if defined(__GNUC__)
#define NSX_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define NSX_PRINTF(fmt, args)
#endif

#endif
