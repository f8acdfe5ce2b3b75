import type { AuthRule, Verb } from '../model.ts';

/** Whom rules leave out on every row; other callers may be let in, or to some rows. */
export interface Callers {
  /** The roles that users need; any user may be let in when absent. */
  readonly roles?: readonly string[];
  /** False when keys without a user are left out, and so is the operator. */
  readonly keys?: false;
}

/**
 * Whom the rules of a root field and of its type leave out. Rules of the field replace the defaults
 * of a type.
 *
 * @example callersOf([], [{ allow: ['ROLE'], roles: ['Owner'], on: ['CREATE'] }], 'CREATE') // { roles: ['Owner'], keys: false }
 */
export function callersOf(
  field: readonly AuthRule[],
  type: readonly AuthRule[],
  verb: Verb,
): Callers | undefined {
  const named = ({ on }: AuthRule) => on.length === 0 || on.includes(verb);
  const own = field.filter(named);
  const stated = type.filter((rule) => named(rule) && !(own.length > 0 && rule.implied));
  const both = [own, stated].filter((rules) => rules.length > 0);
  const lists = both.filter((rules) => rules.every(isOfRoles)).map(rolesOf);
  const keys = both.every((rules) => rules.some(letsKeysIn));
  if (lists.length === 0 && keys) return undefined;
  return {
    ...(lists.length > 0 && {
      roles: lists.reduce((some, others) => some.filter((role) => others.includes(role))),
    }),
    ...(!keys && { keys: false as const }),
  };
}

const isOfRoles = ({ allow }: AuthRule) =>
  allow.every((who) => who === 'ROLE' || who === 'API_KEY');

const rolesOf = (rules: readonly AuthRule[]) => [
  ...new Set(rules.flatMap(({ allow, roles }) => (allow.includes('ROLE') ? roles : []))),
];

const letsKeysIn = ({ allow, implied }: AuthRule) =>
  implied === true || allow.includes('PUBLIC') || allow.includes('API_KEY');
