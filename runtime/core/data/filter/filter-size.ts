import { AppError } from '../../errors.ts';

/** The most levels of a filter and names in it: databases limit the size of an expression. */
const LIMITS = { depth: 40, names: 900 };

/**
 * Limits a filter, which may arrive in a variable where the limits of documents do not count it.
 * Each field and operator that becomes SQL counts as one, and so does an object without any; the
 * values of one `in` count as one together.
 *
 * @throws AppError `TOO_DEEP` or `TOO_COSTLY`.
 * @example assertFilterSize({ name: { eq: 'Ada' } }) // two of 900
 */
export function assertFilterSize(where: unknown): void {
  let names = 0;
  const visit = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null) return;
    if (depth > LIMITS.depth) throw tooDeep();
    const inner = Array.isArray(value) ? value : Object.values(value);
    if (!Array.isArray(value)) names += Math.max(1, inner.length);
    if (names > LIMITS.names) throw tooLong();
    for (const item of inner) visit(item, depth + 1);
  };
  visit(where, 1);
}

const tooDeep = () =>
  new AppError(400, 'TOO_DEEP', `a filter may be nested ${LIMITS.depth} levels deep`, {
    extensions: { limit: LIMITS.depth },
  });

const tooLong = () =>
  new AppError(
    400,
    'TOO_COSTLY',
    `a filter may name ${LIMITS.names} fields and operators: many values of one field belong into its in`,
    { extensions: { limit: LIMITS.names } },
  );
