import type { Facts, FieldFact } from './facts.ts';
import { connectionOf } from './connections.ts';
import type { End } from './relation-ends.ts';

/** A list whose relation is not clear. `candidates`: the lists that it may mean. */
export interface UnclearView {
  readonly kind:
    /** `@list(relation:)` names no list of the same rows. */
    | 'unknown'
    /** There are several such lists, or several keys between the two types. */
    | 'ambiguous';
  readonly field: FieldFact;
  readonly candidates: readonly FieldFact[];
}

/** Lists that show rows of a relation that another field of the type is the end of. */
export interface ListViews {
  /** The field that is the relation itself; undefined when that is not clear. */
  readonly of: ReadonlyMap<FieldFact, FieldFact | undefined>;
  readonly unclear: readonly UnclearView[];
}

/**
 * Finds the lists that are no relations of their own: those with `@list(relation:)`, those with
 * `@list(where:)` beside a plain list, and connections that are named after one.
 *
 * @example
 * listViews(relationEnds(facts), facts).of // User.publishedPosts → User.posts
 */
export function listViews(ends: readonly End[], facts: Facts): ListViews {
  const of = new Map<FieldFact, FieldFact | undefined>();
  const unclear: UnclearView[] = [];
  const lists = ends.filter(({ many, abstract }) => many && !abstract);
  for (const end of lists) {
    const view = viewOf(end, { lists, ends, facts });
    if (view === undefined) continue;
    if ('kind' in view) unclear.push(view);
    of.set(end.field, 'kind' in view ? undefined : view);
  }
  return { of, unclear };
}

interface Ends {
  readonly lists: readonly End[];
  readonly ends: readonly End[];
  readonly facts: Facts;
}

function viewOf(end: End, all: Ends): FieldFact | UnclearView | undefined {
  const { field } = end;
  const { relation: named, where } = field.directives.list ?? {};
  const beside = plainBeside(end, all).map((each) => each.field);
  if (named !== undefined)
    return (
      beside.find(({ name }) => name === named) ?? { kind: 'unknown', field, candidates: beside }
    );
  if (field.directives.relation || beside.length === 0) return undefined;
  const [only] = beside;
  if (!where) return isConnection(end, all.facts) ? namesake(field, beside) : undefined;
  return only && beside.length === 1 && keysBetween(end, all) < 2
    ? only
    : (namesake(field, beside) ?? { kind: 'ambiguous', field, candidates: beside });
}

/** Relations that list the same rows. A connection counts only when there is no plain list. */
function plainBeside(end: End, { lists, facts }: Ends): readonly End[] {
  const others = lists.filter(
    ({ field, targets }) =>
      field !== end.field &&
      field.owner === end.field.owner &&
      targets[0] === end.targets[0] &&
      !isView(field),
  );
  const plain = others.filter((other) => !isConnection(other, facts));
  if (plain.length > 0) return plain;
  return isView(end.field) ? others : [];
}

const isView = ({ directives: { list } }: FieldFact): boolean =>
  list?.relation !== undefined || list?.where !== undefined;

const isConnection = ({ field }: End, facts: Facts): boolean =>
  connectionOf(field.named.name, facts) !== undefined;

/** The list after which a connection is named: `posts` for `postsConnection`. */
const namesake = ({ name }: FieldFact, lists: readonly FieldFact[]): FieldFact | undefined =>
  lists.find((list) => name === `${list.name}Connection`);

/** How many fields of the listed type refer back to the owner of the list. */
const keysBetween = ({ field: { owner }, targets: [target] }: End, { ends }: Ends): number =>
  ends.filter(({ many, field, targets }) => !many && field.owner === target && targets[0] === owner)
    .length;
