import type { BootOptions } from './boot.ts';
import type { MovedRows } from './store/transfer/move-rows.ts';

export interface MoveOptions extends BootOptions {
  /** Called with the number of rows that were moved so far. */
  readonly progress?: (done: number) => void;
}

export interface RestoreReport {
  /** False when a table differs after writing. The target is then unchanged. */
  readonly ok: boolean;
  readonly tables: readonly MovedRows[];
  /** Migrations of the project that are newer than the rows: they are not applied yet. */
  readonly pending: readonly string[];
}
