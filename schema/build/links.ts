import { keyParts, type ForeignKey } from './key-parts.ts';
import { isScalarType } from 'graphql';
import type { JoinKey } from '../model.ts';
import { derivedTable, singularize, snakeCase } from '../names.ts';
import type { EntityFact, Facts, FieldFact } from './facts.ts';
import { keyScalar } from './keys.ts';
import { joinKeys } from './join-keys.ts';
import { keyNames, listedNames, storedNames } from './stored-names.ts';
import { listViews, type ListViews } from './list-views.ts';
import { pairRelations, type Doubt, type Pairing } from './pair-relations.ts';
import { relationEnds, type End } from './relation-ends.ts';
import { membershipEnds } from './memberships.ts';

/** How a field whose type is one or several entities is stored. */
export type Link =
  /** The foreign key is a column of this table. */
  | {
      readonly kind: 'own';
      readonly entity: string;
      readonly key: ForeignKey;
      readonly inverse?: FieldFact;
    }
  /** The foreign key is a column of the other table. */
  | {
      readonly kind: 'other';
      readonly entity: string;
      readonly key: ForeignKey;
      readonly inverse?: FieldFact;
    }
  | {
      readonly kind: 'join';
      readonly entity: string;
      readonly table: string;
      readonly schema?: string;
      readonly own: JoinKey;
      readonly other: JoinKey;
      /** Whether a capability keeps the table: the relation is read-only. */
      readonly managed?: true;
      readonly inverse?: FieldFact;
    };

export interface Links {
  readonly byField: ReadonlyMap<FieldFact, Link>;
  /** By the entity whose table has the column. */
  readonly keys: ReadonlyMap<string, readonly ForeignKey[]>;
  readonly doubts: readonly Doubt[];
  /** Lists without an inverse field on the other type. */
  readonly oneSided: readonly FieldFact[];
  /** Lists that show rows of another field's relation. */
  readonly views: ListViews;
}

interface Draft {
  readonly facts: Facts;
  /** Tables of entities, in lower case: a join table must not have the same name. */
  readonly tables: ReadonlySet<string>;
  readonly pairing: Pairing;
  /** Lists that are the membership of users in organizations. */
  readonly memberships: ReadonlySet<End>;
  readonly links: Map<FieldFact, Link>;
  readonly keys: Map<string, ForeignKey[]>;
  readonly keyOf: Map<FieldFact, ForeignKey>;
  readonly doubts: Doubt[];
  readonly oneSided: FieldFact[];
}

/**
 * Every relation of the schema with its columns and join tables.
 *
 * @example
 * linkRelations(facts).keys.get('Post') // [{ column: 'author_id', target: 'User', … }]
 */
export function linkRelations(facts: Facts): Links {
  const all = relationEnds(facts);
  const views = listViews(all, facts);
  const ends = all.filter(({ field }) => !views.of.has(field));
  const pairing = pairRelations(ends, facts);
  const draft: Draft = {
    facts,
    tables: new Set(Array.from(facts.entities.values(), ({ table }) => table.toLowerCase())),
    pairing,
    memberships: membershipEnds(facts, ends, pairing.partner),
    links: new Map(),
    keys: new Map(),
    keyOf: new Map(),
    doubts: [...pairing.doubts],
    oneSided: [],
  };
  for (const end of ends) if (!end.many && ownsKey(end, draft)) addKey(keyFor(end, draft), draft);
  for (const entity of facts.entities.values()) addNamedKeys(entity, draft);
  for (const end of ends) addLink(end, draft);
  for (const [view, relation] of views.of) {
    const link = relation && draft.links.get(relation);
    if (link) draft.links.set(view, link);
  }
  const { links, keys, doubts, oneSided } = draft;
  return { byField: links, keys, doubts, oneSided, views };
}

function addKey(key: ForeignKey, draft: Draft): ForeignKey {
  const keys = draft.keys.get(key.owner);
  if (keys) keys.push(key);
  else draft.keys.set(key.owner, [key]);
  if (key.field) draft.keyOf.set(key.field, key);
  return key;
}

/** Which of two single objects that form one relation has the column. */
function ownsKey(end: End, draft: Draft): boolean {
  const other = draft.pairing.partner.get(end);
  if (!other || other.many) return true;
  const owner = keySide(end, other);
  if (!owner && isFirst(end, other))
    draft.doubts.push({ kind: 'owner', field: end.field, candidates: [other.field] });
  return owner ? owner === end : isFirst(end, other);
}

function keySide(one: End, other: End): End | undefined {
  const tests: ((end: End) => boolean)[] = [
    ({ field: { directives } }) =>
      (directives.relation?.column ?? directives.relation?.columns) !== undefined,
    (end) => end.field.type.required,
    (end) => end.field.directives.relation?.inverse === undefined,
  ];
  for (const test of tests) if (test(one) !== test(other)) return test(one) ? one : other;
  return undefined;
}

function isFirst(end: End, other: End): boolean {
  return `${end.field.owner}.${end.field.name}` <= `${other.field.owner}.${other.field.name}`;
}

function keyFor(end: End, draft: Draft): ForeignKey {
  const { field, abstract } = end;
  const { column, ...named } = keyNames(field, draft.facts);
  const partner = draft.pairing.partner.get(end);
  return {
    owner: field.owner,
    column,
    ...named,
    ...(abstract && { typeColumn: `${column.replace(/_id$/, '')}_type` }),
    target: field.named.name,
    required: field.type.required,
    unique: field.directives.unique || (partner !== undefined && !partner.many),
    onDelete:
      field.directives.relation?.onDelete ?? (field.type.required ? 'restrict' : 'set null'),
    field,
  };
}

/**
 * `userId: ID!` is a key of `User`, and so is an `Int` if its keys are; unless a relation has
 * already made that column.
 */
function addNamedKeys(entity: EntityFact, draft: Draft): void {
  const taken = new Set(draft.keys.get(entity.name)?.map((key) => key.column));
  for (const field of entity.fields.values()) {
    const target = namedTarget(field, draft.facts);
    const column = field.snakeName;
    if (!target || taken.has(column)) continue;
    const { required } = field.type;
    addKey(
      {
        owner: entity.name,
        column,
        ...storedNames(field),
        target,
        required,
        unique: field.directives.unique,
        onDelete: required ? 'restrict' : 'set null',
        field,
      },
      draft,
    );
  }
}

function namedTarget(field: FieldFact, facts: Facts): string | undefined {
  const { name: scalar } = field.named;
  if (field.type.list || field.args.length > 0 || field.directives.computed) return undefined;
  if (!isScalarType(field.named)) return undefined;
  const stem = /^(.+?)(?:Id|_id|ID)$/.exec(field.name)?.[1];
  const target = stem && facts.entities.get(stem.charAt(0).toUpperCase() + stem.slice(1));
  const fits = target && (scalar === 'ID' || (scalar === 'Int' && keyScalar(target) === 'Int'));
  return fits ? target.name : undefined;
}

function addLink(end: End, draft: Draft): void {
  const link = end.many ? listLink(end, draft) : singleLink(end, draft);
  if (link) draft.links.set(end.field, link);
}

function singleLink(end: End, draft: Draft): Link | undefined {
  const partner = draft.pairing.partner.get(end);
  const inverse = partner && { inverse: partner.field };
  const own = draft.keyOf.get(end.field);
  if (own) return { kind: 'own', entity: own.target, key: own, ...inverse };
  const key = partner && draft.keyOf.get(partner.field);
  return key && { kind: 'other', entity: partner.field.owner, key, ...inverse };
}

function listLink(end: End, draft: Draft): Link | undefined {
  const partner = draft.pairing.partner.get(end);
  const [entity] = end.targets;
  if (!entity) return undefined;
  if (draft.memberships.has(end)) return membershipLink(end, entity, partner, draft);
  if (!partner) return unpairedLink(end, entity, draft);
  if (partner.many) return joinLink(end, entity, partner, draft);
  const key = draft.keyOf.get(partner.field);
  return key && { kind: 'other', entity, key, inverse: partner.field };
}

function membershipLink(
  { field }: End,
  entity: string,
  partner: End | undefined,
  { facts, memberships }: Draft,
): Link | undefined {
  const tenancy = facts.signIn?.tenancy;
  if (!tenancy) return undefined;
  const { table, user, organization } = tenancy.members;
  const [own, other] = field.owner === tenancy.type ? [organization, user] : [user, organization];
  const inverse = partner && memberships.has(partner) && { inverse: partner.field };
  return { kind: 'join', entity, table, own, other, managed: true, ...inverse };
}

/**
 * An ambiguous list counts as a relation without an inverse; a list with arguments of its own is
 * the user's function until a directive says otherwise.
 */
function unpairedLink(end: End, entity: string, draft: Draft): Link | undefined {
  const { field } = end;
  if (end.loose && !field.directives.relation) return undefined;
  const doubt = draft.doubts.find(
    (each) =>
      each.field === field || (each.kind === 'contested' && each.candidates.includes(field)),
  );
  if (!doubt) return oneSidedLink(end, entity, draft);
  const unreadable = doubt.kind === 'inverse-unknown' || doubt.kind === 'inverse-mismatch';
  return unreadable ? undefined : joinLink(end, entity, undefined, draft);
}

/**
 * A list without an inverse field: stored by the column that it names, by the only `ID` field of the
 * other type that references this one, or in a join table.
 */
function oneSidedLink(end: End, entity: string, draft: Draft): Link {
  const { field } = end;
  const written = field.directives.relation;
  const keys = draft.keys.get(entity) ?? [];
  if ((written?.column ?? written?.columns) !== undefined && written?.table === undefined) {
    const { column, ...named } = listedNames(field, entity, draft.facts);
    const present = keys.find((key) => key.column === column && key.target === field.owner);
    const key =
      present ??
      addKey(
        {
          owner: entity,
          column,
          ...named,
          target: field.owner,
          required: false,
          unique: false,
          onDelete: written?.onDelete ?? 'set null',
        },
        draft,
      );
    return { kind: 'other', entity, key };
  }
  const named = keys.filter(
    (key) => key.target === field.owner && key.field?.type.kind === 'scalar',
  );
  if (named[0] && named.length === 1 && written?.table === undefined)
    return { kind: 'other', entity, key: named[0] };
  if (written?.table === undefined) draft.oneSided.push(field);
  return joinLink(end, entity, undefined, draft);
}

/**
 * The join table is named after the end that is first in alphabetical order, so that moving types
 * in the schema does not rename it.
 */
function joinLink(end: End, entity: string, partner: End | undefined, draft: Draft): Link {
  const reversed = partner !== undefined && !isFirst(end, partner);
  const first = reversed ? partner.field : end.field;
  const second = reversed ? end.field.owner : entity;
  const singular = (name: string) => snakeCase(draft.facts.entities.get(name)?.singular ?? name);
  const near = `${singular(first.owner)}_id`;
  const far = `${first.owner === second ? farName(first, singular(second)) : singular(second)}_id`;
  const written =
    first.directives.relation?.table ??
    end.field.directives.relation?.table ??
    partner?.field.directives.relation?.table;
  const table = written ?? freeTable(`${singular(first.owner)}_${snakeCase(first.name)}`, draft);
  const [own, other] = reversed ? [far, near] : [near, far];
  const [ownKey, otherKey] = joinKeys(
    { column: own, parts: partsOf(end.field.owner, draft) },
    { column: other, parts: partsOf(entity, draft) },
    joinColumns(end.field, partner?.field, draft),
  );
  const schema = (end.field.directives.relation ?? partner?.field.directives.relation)?.schema;
  return {
    kind: 'join',
    entity,
    table,
    ...(schema !== undefined && { schema }),
    own: ownKey,
    other: otherKey,
    ...(partner && { inverse: partner.field }),
  };
}

/** Names the columns of a join table. Either end may do so, and each names its own side first. */
function joinColumns(field: FieldFact, inverse: FieldFact | undefined, draft: Draft) {
  const { columns } = field.directives.relation ?? {};
  const theirs = inverse?.directives.relation?.columns;
  if (columns || !inverse || !theirs) return columns;
  const size = partsOf(inverse.owner, draft).length;
  return [...theirs.slice(size), ...theirs.slice(0, size)];
}

const partsOf = (name: string, { facts, keys }: Draft): string[] => {
  const entity = facts.entities.get(name);
  return entity ? keyParts(entity, facts, keys).map(({ column }) => column) : ['id'];
};

/**
 * A free table name: the join table of `Order.items: [OrderItem]` must not be the table of
 * `OrderItem`.
 */
function freeTable(name: string, { tables }: Draft): string {
  return derivedTable(tables.has(name) ? `${name}_links` : name);
}

function farName(field: FieldFact, singular: string): string {
  const name = snakeCase(singularize(field.name));
  return name === singular ? `other_${name}` : name;
}
