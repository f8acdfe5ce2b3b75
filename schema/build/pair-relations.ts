import type { Facts, FieldFact } from './facts.ts';
import type { End } from './relation-ends.ts';

/** What the schema leaves open about relations. Each becomes a finding; nothing is guessed. */
export interface Doubt {
  readonly kind:
    /** A list with several possible other ends. */
    | 'ambiguous'
    /** Several lists want the same other end. */
    | 'contested'
    /** Two single objects, or two lists of one type, that point at each other: one relation or two? */
    | 'one-to-one'
    /** One relation, and nothing says which of the two sides holds the key. */
    | 'owner'
    /** `inverse` names no field of the other type. */
    | 'inverse-unknown'
    /** `inverse` names a field that leads elsewhere or has another inverse. */
    | 'inverse-mismatch';
  readonly field: FieldFact;
  readonly candidates: readonly FieldFact[];
}

/** Which ends belong together. */
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
 * Finds the two ends of each relation: first what `@relation(inverse:)` says, then what can only be read in one way.
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
  for (const end of ends) pairAsSaid(end, draft);
  for (const group of groups(ends)) {
    pairLists(group, draft);
    pairSingles(group, draft);
  }
  return draft;
}

function pairAsSaid(end: End, draft: Draft): void {
  const inverse = end.field.directives.relation?.inverse;
  if (inverse === undefined) return;
  for (const target of end.targets) {
    const field = draft.facts.entities.get(target)?.fields.get(inverse);
    const other = field && draft.byField.get(field);
    if (!field && end.abstract) continue;
    if (!field) note('inverse-unknown', end, [], draft);
    else if (!other || !fits(end, other)) note('inverse-mismatch', end, [field], draft);
    else pair(end, other, draft);
  }
}

/** The other end leads back, is not taken, and does not itself name a third. */
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
      return note('inverse-mismatch', partner, [end.field], draft);
  }
  if (!one.abstract) draft.partner.set(one, other);
  if (!other.abstract) draft.partner.set(other, one);
}

function groups(ends: readonly End[]): Group[] {
  const byKey = new Map<string, End[]>();
  for (const end of ends) {
    for (const target of end.targets) {
      const key = [end.field.owner, target].sort().join(' ');
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

/** A list needs another end, so lists choose before single objects do. */
function pairLists(group: Group, draft: Draft): void {
  const free = group.ends.filter((end) => isFree(end, draft));
  const choices = new Map(free.map((end) => [end, opposite(end, free, group)]));
  for (const [list, candidates] of choices) {
    if (!list.many || candidates.length === 0 || draft.partner.has(list)) continue;
    const [only] = candidates;
    if (!only || candidates.length > 1)
      note(
        'ambiguous',
        list,
        candidates.map((end) => end.field),
        draft,
      );
    else if (!only.many)
      pairUncontested(
        only,
        (choices.get(only) ?? opposite(only, free, group)).filter((end) => end.many),
        draft,
      );
    else if (group.self) noteTwoLists(list, only, draft);
    else if (choices.get(only)?.length === 1) pair(list, only, draft);
    else draft.doubtful.add(list);
  }
}

function pairUncontested(single: End, claimants: readonly End[], draft: Draft): void {
  const [list] = claimants;
  if (list && claimants.length === 1) return pair(list, single, draft);
  if (list && !claimants.every((end) => draft.doubtful.has(end))) {
    note('contested', list, [single.field, ...claimants.map((end) => end.field)], draft);
    for (const end of claimants) draft.doubtful.add(end);
  }
}

/** Followers and following are one relation, friends and blocked are two; only a person knows. */
function noteTwoLists(one: End, other: End, draft: Draft): void {
  if (draft.doubtful.has(one)) return;
  note('one-to-one', one, [other.field], draft);
  draft.doubtful.add(other);
}

function opposite(end: End, free: readonly End[], group: Group): End[] {
  return free.filter(
    (other) => other !== end && (group.self || other.field.owner !== end.field.owner),
  );
}

/** A list with a column or a table of its own, and an end that has a partner, take no part. */
function isFree(end: End, draft: Draft): boolean {
  if (draft.partner.has(end) || draft.doubtful.has(end)) return false;
  const said = end.field.directives.relation;
  return !end.many || (said?.table === undefined && said?.column === undefined);
}

/** Two single objects are one relation if each is named after the other's type; otherwise someone has to say. */
function pairSingles(group: Group, draft: Draft): void {
  if (group.self || group.ends.some((end) => draft.doubtful.has(end))) return;
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

function noteSingles(left: readonly End[], right: readonly End[], draft: Draft): void {
  const [few, many] = left.length <= right.length ? [left, right] : [right, left];
  if (few[0] && many[0])
    note(
      'one-to-one',
      few[0],
      many.map((end) => end.field),
      draft,
    );
}

function hasColumn(end: End): boolean {
  return end.field.directives.relation?.column !== undefined;
}

/** `profile: Profile`, or `profile: UserProfile`. */
function isNamedAfterType(end: End): boolean {
  return end.targets[0]?.toLowerCase().endsWith(end.field.name.toLowerCase()) ?? false;
}

function note(kind: Doubt['kind'], end: End, candidates: readonly FieldFact[], draft: Draft): void {
  draft.doubtful.add(end);
  draft.doubts.push({ kind, field: end.field, candidates });
}
