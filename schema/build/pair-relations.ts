import type { Facts, FieldFact } from './facts.ts';
import { affinity } from './name-affinity.ts';
import type { End } from './relation-ends.ts';

/** An open question about a relation. Each becomes a finding; nothing is guessed. */
export interface Doubt {
  readonly kind:
    /** A list with several possible inverse fields. */
    | 'ambiguous'
    /** Several lists with the same possible inverse field. */
    | 'contested'
    /**
     * Two single objects, or two lists of one type, that reference each other: they may be one
     * relation or two.
     */
    | 'one-to-one'
    /** One relation, but it is not clear which side has the foreign key. */
    | 'owner'
    /** `inverse` is not a field of the other type. */
    | 'inverse-unknown'
    /** `inverse` is a field of another type or has another inverse. */
    | 'inverse-mismatch';
  readonly field: FieldFact;
  readonly candidates: readonly FieldFact[];
  /** The inverse that the names suggest. The model is built as if `@relation` named it. */
  readonly advised?: FieldFact;
}

/** The result of pairing: which two ends form a relation. */
export interface Pairing {
  readonly partner: ReadonlyMap<End, End>;
  readonly doubts: readonly Doubt[];
}

interface Draft {
  readonly facts: Facts;
  readonly byField: ReadonlyMap<FieldFact, End>;
  readonly partner: Map<End, End>;
  readonly doubtful: Set<End>;
  readonly doubts: Doubt[];
}

/** The ends between two entities, or within one. */
interface Group {
  readonly self: boolean;
  readonly ends: readonly End[];
}

/**
 * Finds the two ends of each relation: first those of `@relation(inverse:)`, then those for which
 * there is only one possibility.
 *
 * @example
 * pairRelations(relationEnds(facts), facts).doubts // [] when every relation is clear
 */
export function pairRelations(ends: readonly End[], facts: Facts): Pairing {
  const draft: Draft = {
    facts,
    byField: new Map(ends.map((end) => [end.field, end])),
    partner: new Map(),
    doubtful: new Set(),
    doubts: [],
  };
  for (const end of ends) pairByDirective(end, draft);
  for (const group of groups(ends)) {
    pairTables(group, draft);
    pairLists(group, draft);
    pairSingles(group, draft);
  }
  return draft;
}

function pairByDirective(end: End, draft: Draft): void {
  const inverse = end.field.directives.relation?.inverse;
  if (inverse === undefined) return;
  for (const target of end.targets) {
    const field = draft.facts.entities.get(target)?.fields.get(inverse);
    const other = field && draft.byField.get(field);
    if (!field && end.abstract) continue;
    if (!field) note('inverse-unknown', end, [], draft);
    else if (!other || !fits(end, other)) noteField('inverse-mismatch', end, field, draft);
    else pair(end, other, draft);
  }
}

/**
 * Whether the other end references this type, has no partner, and does not name a third field as
 * its inverse.
 */
function fits(end: End, other: End): boolean {
  const back = other.field.directives.relation?.inverse;
  return (
    other.targets.includes(end.field.owner) &&
    (back === undefined || back === end.field.name) &&
    !(end.abstract && other.abstract)
  );
}

function pair(one: End, other: End, draft: Draft): void {
  for (const [end, partner] of [
    [one, other],
    [other, one],
  ] as const) {
    const present = draft.partner.get(end);
    if (present && present !== partner && !end.abstract)
      return note('inverse-mismatch', partner, [end], draft);
  }
  if (!one.abstract) draft.partner.set(one, other);
  if (!other.abstract) draft.partner.set(other, one);
}

function groups(ends: readonly End[]): Group[] {
  const byKey = new Map<string, End[]>();
  for (const end of ends) {
    for (const target of end.targets) {
      const { owner } = end.field;
      const key = owner < target ? `${owner} ${target}` : `${target} ${owner}`;
      const group = byKey.get(key);
      if (group) group.push(end);
      else byKey.set(key, [end]);
    }
  }
  return [...byKey].map(([key, group]) => ({
    ends: group,
    self: key === `${group[0]?.field.owner} ${group[0]?.field.owner}`,
  }));
}

/**
 * Two lists that face each other are one relation when both name the same join table, or when one
 * names it and the other is the only one left.
 */
function pairTables(group: Group, draft: Draft): void {
  const lists = group.ends.filter((end) => end.many && !end.loose && !end.abstract);
  for (const list of lists) {
    const table = tableOf(list);
    if (table === undefined || draft.partner.has(list)) continue;
    const facing = opposite(list, lists, group).filter((end) => !draft.partner.has(end));
    const same = facing.filter((end) => tableOf(end) === table);
    const open = facing.filter((end) => isFree(end, draft));
    const rivals = lists.filter(
      (end) => end.field.owner === list.field.owner && !draft.partner.has(end) && end !== list,
    );
    const other = same[0] ?? (open.length === 1 && rivals.length === 0 ? open[0] : undefined);
    if (other && !(group.self && same.length === 0)) pair(list, other, draft);
  }
}

const tableOf = ({ field }: End): string | undefined => field.directives.relation?.table;

/** A list needs an inverse, so lists are paired before single objects. */
function pairLists(group: Group, draft: Draft): void {
  const free = group.ends.filter((end) => isFree(end, draft) && !end.loose);
  const choices = new Map(free.map((end) => [end, opposite(end, free, group)]));
  const open: End[] = [];
  for (const [list, candidates] of choices) {
    if (!list.many || candidates.length === 0 || draft.partner.has(list)) continue;
    const [only] = candidates;
    const back = only && (choices.get(only) ?? []).filter((end) => end.many || only.many);
    if (only && candidates.length === 1 && back?.length === 1 && !(group.self && only.many))
      pair(list, only, draft);
    else open.push(list);
  }
  for (const list of group.ends)
    if (list.loose && isFree(list, draft)) choices.set(list, singlesOf(list, free, group));
  pairOpenLists(open, choices, draft);
  pairLoose(group, draft);
}

/**
 * Notes the open questions, and continues as if each list had the inverse that its name suggests;
 * no inverse is used twice.
 */
function pairOpenLists(
  open: readonly End[],
  choices: ReadonlyMap<End, readonly End[]>,
  draft: Draft,
): void {
  const advised = advise(choices, open, draft);
  for (const list of open) {
    if (draft.doubtful.has(list)) continue;
    const candidates = choices.get(list) ?? [];
    const [only] = candidates;
    if (!only) continue;
    if (candidates.length > 1) note('ambiguous', list, candidates, draft, advised.get(list));
    else if (only.many && choices.get(only)?.length === 1) noteTwoLists(list, only, draft, advised);
    else if (!only.many) noteContested(only, open, choices, draft, advised);
    else draft.doubtful.add(list);
  }
  for (const [list, other] of advised)
    if (!draft.partner.has(list) && !draft.partner.has(other)) pair(list, other, draft);
}

/**
 * Pairs lists with inverse fields, most similar names first, each end once. A list with arguments
 * of its own takes an end only if its name suggests it; other lists can then not have that end.
 */
function advise(
  choices: ReadonlyMap<End, readonly End[]>,
  open: readonly End[],
  { partner }: Draft,
): ReadonlyMap<End, End> {
  const pairs = [...choices].flatMap(([list, others]) =>
    others
      .map((other) => ({ list, other, score: affinity(list, other) }))
      .filter(({ score, other }) =>
        partner.has(other) ? false : open.includes(list) || (list.loose && score > 0),
      ),
  );
  const advised = new Map<End, End>();
  const taken = new Set<End>();
  for (const { list, other, score } of pairs.toSorted((a, b) => b.score - a.score)) {
    const guess = other.many && score === 0 && list.field.owner === other.field.owner;
    if (taken.has(list) || taken.has(other) || guess) continue;
    advised.set(list, other);
    if (other.many) advised.set(other, list);
    taken.add(list).add(other);
  }
  return advised;
}

/**
 * Notes a doubt when several lists could use the only possible inverse. A list that does not get it
 * is a separate relation.
 */
function noteContested(
  single: End,
  open: readonly End[],
  choices: ReadonlyMap<End, readonly End[]>,
  draft: Draft,
  advised: ReadonlyMap<End, End>,
): void {
  const claimants = open.filter((end) => choices.get(end)?.includes(single));
  const winner = claimants.find((end) => advised.get(end) === single) ?? claimants[0];
  if (!winner) return;
  note('contested', winner, [single, ...claimants], draft, single);
  for (const end of claimants) draft.doubtful.add(end);
}

/**
 * Notes a doubt about two lists. `followers` and `following` are one relation, `friends` and
 * `blocked` are two: only the user can decide.
 */
function noteTwoLists(one: End, other: End, draft: Draft, advised: ReadonlyMap<End, End>): void {
  const together = advised.get(one) === other || advised.get(other) === one;
  note('one-to-one', one, [other], draft, together ? other : undefined);
  draft.doubtful.add(other);
}

/**
 * A list with arguments of its own is paired with a key if there is no other candidate; that is not
 * a doubt.
 */
function pairLoose(group: Group, draft: Draft): void {
  const free = group.ends.filter(
    (end) => !draft.partner.has(end) && !end.field.directives.relation,
  );
  const loose = free.filter((end) => end.loose && !draft.partner.has(end));
  for (const list of loose) {
    const singles = singlesOf(list, free, group);
    const rivals = loose.filter((end) => end.field.owner === list.field.owner);
    if (singles[0] && singles.length === 1 && rivals.length === 1) pair(list, singles[0], draft);
  }
}

function singlesOf(list: End, free: readonly End[], group: Group): End[] {
  return opposite(list, free, group).filter((end) => !end.many && !end.abstract);
}

function opposite(end: End, free: readonly End[], group: Group): End[] {
  return free.filter(
    (other) => other !== end && (group.self || other.field.owner !== end.field.owner),
  );
}

/**
 * Whether an end can be paired: a list with a column or table of its own cannot, nor an end that
 * has a partner.
 */
function isFree(end: End, draft: Draft): boolean {
  if (draft.partner.has(end) || draft.doubtful.has(end)) return false;
  const written = end.field.directives.relation;
  const named = written?.table ?? written?.column ?? written?.columns;
  return !end.many || named === undefined;
}

/**
 * Two single objects are one relation if each is named after the other's type; otherwise the user
 * has to decide.
 */
function pairSingles(group: Group, draft: Draft): void {
  if (group.self) return;
  const singles = group.ends.filter((end) => !end.many && !end.abstract && !draft.partner.has(end));
  const [first] = singles;
  const left = singles.filter((end) => end.field.owner === first?.field.owner);
  const right = singles.filter((end) => end.field.owner !== first?.field.owner);
  const [one, other] = [left[0], right[0]];
  if (!one || !other) return;
  if (left.length + right.length === 2 && isNamedAfterType(one) && isNamedAfterType(other)) {
    if (!hasColumn(one) || !hasColumn(other)) pair(one, other, draft);
  } else
    noteSingles(
      left.filter((end) => !hasColumn(end)),
      right.filter((end) => !hasColumn(end)),
      draft,
    );
}

/** Notes one doubt for each end of the smaller side. */
function noteSingles(left: readonly End[], right: readonly End[], draft: Draft): void {
  const [few, many] = left.length <= right.length ? [left, right] : [right, left];
  if (many.length === 0) return;
  for (const end of few) {
    const [other] = many;
    const alike =
      few.length + many.length === 2 && other && isNamedAfterType(end) !== isNamedAfterType(other);
    note('one-to-one', end, many, draft, alike ? other : undefined);
  }
}

function hasColumn(end: End): boolean {
  const { column, columns } = end.field.directives.relation ?? {};
  return (column ?? columns) !== undefined;
}

/** Whether a field is named after its type: `profile: Profile`, or `profile: UserProfile`. */
function isNamedAfterType(end: End): boolean {
  return end.targets[0]?.toLowerCase().endsWith(end.field.name.toLowerCase()) ?? false;
}

function noteField(kind: Doubt['kind'], end: End, field: FieldFact, draft: Draft): void {
  draft.doubtful.add(end);
  draft.doubts.push({ kind, field: end.field, candidates: [field] });
}

function note(
  kind: Doubt['kind'],
  end: End,
  candidates: readonly End[],
  draft: Draft,
  advised?: End,
): void {
  draft.doubtful.add(end);
  draft.doubts.push({
    kind,
    field: end.field,
    candidates: candidates.map(({ field }) => field),
    ...(advised && { advised: advised.field }),
  });
}
