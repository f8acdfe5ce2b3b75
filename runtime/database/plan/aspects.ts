import type { Kysely } from 'kysely';
import type { ColumnDescription } from '../tables/alteration.ts';
import { changeOfType, checkText, typeText } from '../tables/column-values.ts';
import { targetOf } from '../tables/foreign-keys.ts';
import type { Does } from '../tables/effects.ts';
import type { PlannedColumn } from './planned-tables.ts';

/** The steps of which a new definition of a column consists, in the order in which they run. */
export function aspectsOf(
  db: Kysely<any>,
  before: PlannedColumn,
  after: ColumnDescription,
): readonly Does[] {
  const found: [Does, boolean][] = [
    ['type', changeOfType(db, before.type, after) !== null || isResized(db, before, after)],
    ['require', after.required && !before.required],
    ['unique', after.unique && !before.unique],
    ['check', after.check !== undefined && !isSameCheck(before.checks, checkText(db, after))],
    [
      'reference',
      after.references !== undefined &&
        (!before.references || targetOf(before.references) !== targetOf(after.references)),
    ],
  ];
  const tighter = found.filter(([, is]) => is).map(([does]) => does);
  if (tighter.length > 0) return tighter;
  return [
    before.hasDefault !== 'default' in after && !isLooser(before, after) ? 'default' : 'relax',
  ];
}

function isLooser(before: PlannedColumn, after: ColumnDescription): boolean {
  return (
    (before.required && !after.required) ||
    (before.unique && !after.unique) ||
    (before.checks.length > 0 && after.check === undefined) ||
    (before.references !== null && after.references === undefined)
  );
}

/** The type's name is the same, but not its length or precision: `varchar(20)`. */
function isResized(db: Kysely<any>, before: PlannedColumn, after: ColumnDescription): boolean {
  const declared = typeText(db, after.type);
  return /\(\d/.test(declared) && declared !== before.declared && before.type !== 'timestamp';
}

/**
 * Whether two checks are equal. PostgreSQL writes conditions in its own form, so only operators,
 * numbers and texts are compared.
 */
function isSameCheck(before: readonly string[], after: string): boolean {
  return before.length > 0 && partsOf(before.join(' and ')) === partsOf(after);
}

function partsOf(condition: string): string {
  const parts = condition.match(/'(?:[^']|'')*'|[<>]=?|!?~|-?\d+(?:\.\d+)?|\blength\b/gi) ?? [];
  return parts.map((part) => part.replace(/^'(-?\d+(?:\.\d+)?)'$/, '$1').toLowerCase()).join(' ');
}
