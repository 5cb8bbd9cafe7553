;; A constant seed for the standard library's HashMap.
;; The linker uses this module in place of the import `wasi:random/insecure-seed`.
(module
  (import "env" "memory" (memory 0))
  (func (export "insecure-seed") (param $result i32)
    (i64.store (local.get $result) (i64.const 0))
    (i64.store offset=8 (local.get $result) (i64.const 0))))
