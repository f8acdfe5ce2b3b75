import type { CheckedRow, Link, SeedFinding } from './seed-row.ts';

/** Rows in the order in which they can be written, and what is left to be said when all of them are there. */
export interface Ordered {
  readonly order: readonly CheckedRow[];
  /** Links that have to wait, by index of the row: those of other tables, and those that would close a circle. */
  readonly later: ReadonlyMap<number, readonly Link[]>;
  readonly findings: readonly SeedFinding[];
}

/**
 * Rows that others point at come first, however the file orders them. Of a circle one optional link waits; a circle of
 * required ones cannot be written at all.
 *
 * No recursion: a file may hold a chain of any length.
 */
export function orderRows(rows: readonly CheckedRow[]): Ordered {
  const ordered = orderBy(rows, () => true);
  // A circle that a required link closes is opened at its optional ones: only the required decide who is first.
  return ordered.findings.length === 0 ? ordered : orderBy(rows, ({ required }) => required);
}

/** @param decides whether the link's target has to be there first; if not, and it is not, the link waits. */
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
      const top = stack.at(-1)!;
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
