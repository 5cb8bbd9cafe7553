/* The one function of bcryptprimitives.dll that Rust's standard library calls, for a Wine that lacks
   it (before 9.0). Windows has it itself. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length)
{
    return SystemFunction036(buffer, (ULONG)length);
}
