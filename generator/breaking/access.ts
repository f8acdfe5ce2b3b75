import { first } from '@twofold/schema';
import type { AuthRule, Project, Verb } from '@twofold/schema';
import { nowNamed } from './api/rename-schema.ts';
import type { Renames } from './api/renames.ts';
import type { Change } from './change.ts';

const VERBS: readonly Verb[] = ['READ', 'CREATE', 'UPDATE', 'DELETE'];

/** Who may do more or less than before: by `api.access`, and by `@auth` of types and fields. */
export function accessChanges(base: Project, head: Project, renames: Renames): Change[] {
  const before = rulesOf(base);
  const after = rulesOf(head);
  return [
    ...(base.api.access === head.api.access
      ? []
      : [
          change(
            head.api.access === 'public' ? 'wider' : 'narrower',
            'api.access',
            `${head.api.access} instead of ${base.api.access}`,
          ),
        ]),
    ...[...before].flatMap(([coordinate, rules]) => {
      const now = nowNamed(coordinate, renames);
      const next = after.get(now);
      return next ? compareRules(now, rules, next) : [];
    }),
  ];
}

/** The rules of types, their fields and root fields, with and without rules. */
function rulesOf({ entities, operations }: Project): Map<string, readonly AuthRule[]> {
  return new Map([
    ...entities.flatMap(({ name, rules, fields }) => [
      [name, rules] as const,
      ...fields.map((field) => [`${name}.${field.name}`, field.rules] as const),
    ]),
    ...operations.map(
      ({ root, name, rules }) =>
        [`${first(root).toUpperCase()}${root.slice(1)}.${name}`, rules] as const,
    ),
  ]);
}

/** One way in: a kind of caller, and the rows that they may reach. */
interface Way {
  readonly who: string;
  /** The kind of caller, without the column or role that names them. */
  readonly kind: string;
  readonly where: string;
}

function compareRules(
  coordinate: string,
  before: readonly AuthRule[],
  after: readonly AuthRule[],
): Change[] {
  // Most coordinates of a large schema have no rule on either side.
  if (before.length === 0 && after.length === 0) return [];
  const found = VERBS.map((verb) => {
    const [old, now] = [waysOf(before, verb), waysOf(after, verb)];
    return {
      verb,
      wider: now.filter((way) => !old.some((each) => covers(each, way))),
      narrower: old.filter((way) => !now.some((each) => covers(each, way))),
    };
  });
  return (['wider', 'narrower'] as const).flatMap((direction) => {
    const verbs = found.filter((each) => each[direction].length > 0);
    if (verbs.length === 0) return [];
    const who = [...new Set(verbs.flatMap((each) => each[direction].map(wayText)))];
    const word = direction === 'wider' ? 'may now' : 'may no longer';
    const done =
      verbs.length === VERBS.length ? 'do everything' : verbs.map(({ verb }) => verb).join(', ');
    return [change(direction, coordinate, `${who.join(' and ')} ${word} ${done}`)];
  });
}

/**
 * The callers whom the rules let in. Without a rule for the verb, `api.access` decides: both sides
 * then get the same name for its callers.
 */
function waysOf(rules: readonly AuthRule[], verb: Verb): Way[] {
  const relevant = rules.filter(({ on }) => on.length === 0 || on.includes(verb));
  if (relevant.length === 0) return [{ who: 'callers of api.access', kind: 'DEFAULT', where: '' }];
  return relevant.flatMap((rule) => {
    const where = rule.where ? JSON.stringify(rule.where) : '';
    return rule.allow.flatMap((kind) => namesOf(rule, kind).map((who) => ({ who, kind, where })));
  });
}

function namesOf(rule: AuthRule, kind: AuthRule['allow'][number]): readonly string[] {
  if (kind === 'ROLE') return rule.roles.map((role) => `role ${role}`);
  if (kind === 'OWNER') return [`owner by ${rule.owner ?? JSON.stringify(rule.ownedBy)}`];
  return [kind === 'TENANT' ? `members by ${JSON.stringify(rule.tenant)}` : kind];
}

const OF_USERS: ReadonlySet<string> = new Set(['USER', 'OWNER', 'ROLE', 'TENANT']);

/** Whether everybody whom `way` lets in is let in by `other` as well. */
function covers(other: Way, way: Way): boolean {
  const meets = other.where === '' || other.where === way.where;
  if (!meets) return false;
  if (other.kind === 'PUBLIC') return true;
  if (other.kind === 'USER' && OF_USERS.has(way.kind)) return true;
  return other.who === way.who;
}

const wayText = ({ who, kind, where }: Way) =>
  `${kind === 'OWNER' ? 'OWNER' : kind === 'TENANT' ? 'TENANT' : who}${where ? ' (where …)' : ''}`;

function change(direction: 'wider' | 'narrower', coordinate: string, what: string): Change {
  return {
    class: 'access',
    level: 'dangerous',
    code: direction === 'wider' ? 'ACCESS_WIDER' : 'ACCESS_NARROWER',
    coordinate,
    message: `${coordinate} is ${direction}: ${what}`,
  };
}
