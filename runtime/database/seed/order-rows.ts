import { last } from '@twofold/schema';
import type { CheckedRow, Link, SeedFinding } from './seed-row.ts';

/** Rows in an order in which they can be written, and the links that are written afterwards. */
export interface Ordered {
  readonly order: readonly CheckedRow[];
  /**
   * Links to write when all rows exist, by index of the row: those of other tables, and those that
   * would close a cycle.
   */
  readonly later: ReadonlyMap<number, readonly Link[]>;
  readonly findings: readonly SeedFinding[];
}

/**
 * Sorts rows so that referenced rows come first, whatever their order in the file. In a cycle, one
 * optional link is written later; a cycle of required links cannot be written.
 *
 * No recursion: a file may hold a chain of any length.
 */
export function orderRows(rows: readonly CheckedRow[]): Ordered {
  const ordered = orderBy(rows, () => true);
  // A cycle with a required link is broken at its optional links: only required links then decide
  // the order.
  return ordered.findings.length === 0 ? ordered : orderBy(rows, ({ required }) => required);
}

/**
 * @param decides whether the target of a link must be written first. Any other link to a row that
 * is not yet written waits.
 */
function orderBy(rows: readonly CheckedRow[], decides: (link: Link) => boolean): Ordered {
  const byIndex = new Map(rows.map((row) => [row.index, row]));
  const state = new Map<number, 'open' | 'done'>();
  const order: CheckedRow[] = [];
  const later = new Map<number, Link[]>();
  const findings: SeedFinding[] = [];
  const wait = (row: CheckedRow, link: Link) =>
    void later.set(row.index, [...(later.get(row.index) ?? []), link]);
  for (const first of rows) {
    const stack: { readonly row: CheckedRow; next: number }[] = state.has(first.index)
      ? []
      : [{ row: first, next: 0 }];
    while (stack.length > 0) {
      const top = last(stack);
      state.set(top.row.index, state.get(top.row.index) ?? 'open');
      const link = top.row.links[top.next++];
      if (link === undefined) {
        state.set(top.row.index, 'done');
        order.push(top.row);
        stack.pop();
        continue;
      }
      const target = link.targets[0];
      if (!link.own) wait(top.row, link);
      if (
        !link.own ||
        target === undefined ||
        !('row' in target) ||
        state.get(target.row) === 'done'
      )
        continue;
      const other = byIndex.get(target.row);
      if (state.get(target.row) === 'open') {
        if (link.required)
          findings.push({
            row: top.row.index,
            field: link.field,
            message: `${link.field}: the rows point at each other in a circle, and none can be first`,
          });
        wait(top.row, link);
      } else if (!decides(link)) wait(top.row, link);
      else if (other) stack.push({ row: other, next: 0 });
    }
  }
  return { order, later, findings };
}
