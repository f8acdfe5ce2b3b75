import type { AuthRule } from '../model.ts';
import type { AuthUse } from '../directives/of-both.ts';
import type { EntityFact, FieldFact } from './facts.ts';

/** The kind of an identity column. */
export type IdentityKind = 'email' | 'username' | 'phone' | 'last_login' | 'state';

/**
 * Spellings of each kind, compared without underscores and in lower case: `isLocked`,
 * `phone_number` and `lastLoginAt` are found too. `state` is a column that says whether an account
 * or an address is verified, locked, disabled or deleted.
 */
const SPELLINGS: readonly (readonly [IdentityKind, RegExp])[] = [
  ['email', /^(?:primary|account|user|login)?e?mail(?:address)?$/],
  ['username', /^(?:(?:user|login|account)name|login)$/],
  ['phone', /^(?:(?:mobile|cell|tele)?phone|mobile|cell)(?:number|no)?$/],
  ['last_login', /^last(?:login|logon|signin|loggedin|signedin)(?:at|on|date|time)?$/],
  ['state', stateSpelling()],
];

/** `emailVerifiedAt`, `isAccountLocked`, `inactive`, `deletedBy`. */
function stateSpelling(): RegExp {
  const verb = '(?:is|has|was)?';
  const subject = '(?:email|mail|phone|account|user)?';
  const states = [
    'verified|verification|confirmed|validated',
    'locked|lockout|blocked|banned|suspended',
    'disabled|enabled|deactivated|active|activated',
    'deleted|removed',
  ].join('|');
  const detail = '(?:at|on|until|by|date|time|reason|state|status)?';
  return new RegExp(`^${verb}${subject}${verb}(?:un|in)?(?:${states})${detail}$`);
}

/** @example identityKind('emailVerifiedAt') // 'state' */
export function identityKind(name: string): IdentityKind | undefined {
  const letters = name.replaceAll('_', '').toLowerCase();
  return SPELLINGS.find(([, spelling]) => spelling.test(letters))?.[0];
}

/** The fields of the user's type that only the auth endpoints write, each with its kind. */
export function identityFields(user: EntityFact): ReadonlyMap<FieldFact, IdentityKind> {
  return new Map(
    [...user.fields.values()].flatMap((field) => {
      const kind = identityOf(field);
      return kind ? [[field, kind] as const] : [];
    }),
  );
}

function identityOf({ name, args, directives, type }: FieldFact): IdentityKind | undefined {
  const isColumn = (type.kind === 'scalar' || type.kind === 'enum') && !type.list;
  const stored = isColumn && args.length === 0 && !directives.computed;
  return stored ? identityKind(name) : undefined;
}

const verbsOf = (uses: readonly AuthUse[]) => new Set(uses.flatMap(({ on }) => on));

/**
 * The default rules: any signed-in user reads, each user updates their own row, and only
 * registration creates one.
 */
const DEFAULT_RULES: readonly AuthRule[] = [
  { allow: ['USER'], roles: [], on: ['READ'], implied: true },
  { allow: ['OWNER'], roles: [], owner: 'id', on: ['UPDATE'], implied: true },
  { allow: [], roles: [], on: ['CREATE', 'DELETE'], implied: true },
];

/** Default rules of the user's type for the verbs that its own `@auth` does not name. */
export function defaultRules({ directives }: EntityFact): AuthRule[] {
  const verbs = verbsOf(directives.auth);
  return DEFAULT_RULES.flatMap((rule) => {
    const on = rule.on.filter((verb) => !verbs.has(verb));
    return on.length > 0 ? [{ ...rule, on }] : [];
  });
}

/**
 * Only the owner reads an address, a phone number and the state of an account, unless the field has
 * an `@auth` of its own.
 */
export function defaultFieldRules(user: EntityFact | undefined, field: FieldFact): AuthRule[] {
  const kind = user && user.fields.get(field.name) === field && identityOf(field);
  return !kind || kind === 'username' || verbsOf(field.directives.auth).has('READ')
    ? []
    : [{ allow: ['OWNER'], roles: [], owner: 'id', on: ['READ'], implied: true }];
}

/** Printable ASCII without the characters that have a meaning in an address list. */
const ADDRESS = /^[!#-'*+\-./0-9=?A-Z^-~]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/;
const USERNAME = /^[A-Za-z0-9_.-]{3,32}$/;
const PHONE = /^\+?[0-9 ()-]{5,20}$/;

/**
 * Whether a mail address is valid. It is checked as typed, before case folding, because a
 * look-alike character folds into a valid address (`a＠x.test`), and valid addresses are passed to
 * the mailer unchanged.
 */
export function isEmail(text: string): boolean {
  if (text.length > 254 || !ADDRESS.test(text)) return false;
  const [local, domain] = text.split('@') as [string, string];
  return (
    local.length <= 64 &&
    !domain.includes('..') &&
    !local.startsWith('.') &&
    !local.endsWith('.') &&
    !local.includes('..')
  );
}

export const isUsername = (text: string) => USERNAME.test(text);

export const isPhone = (text: string) => PHONE.test(text);
