import { locationOf } from '@twofold/schema';
import { type ConstValueNode, type DirectiveNode, Kind, parse, type TypeNode } from 'graphql';
import type { SourceText } from '@twofold/schema';

/** The type that each field of the schema leads to, by `Type.field`. */
export type FieldTypes = ReadonlyMap<string, string>;

/** A field in a directive, as it is written there. */
export interface FieldName {
  readonly start: number;
  readonly end: number;
  /** The text that stands there when the field has another name. */
  readonly renamed: (to: string) => string;
}

/** The field that is looked for. */
interface Sought {
  readonly type: string;
  readonly from: string;
}

interface Looking {
  readonly sought: Sought;
  readonly types: FieldTypes;
}

/** Reads the types of all fields. A connection leads to its nodes, as the list does that it pages. */
export function fieldTypes(sources: readonly SourceText[]): FieldTypes {
  const types = new Map<string, string>();
  for (const { text } of sources)
    for (const node of parse(text).definitions)
      if ('fields' in node && 'name' in node)
        for (const { name, type } of node.fields ?? [])
          types.set(`${node.name!.value}.${name.value}`, namedType(type));
  const nodeOf = (type: string) =>
    types.get(`${type}.nodes`) ?? types.get(`${types.get(`${type}.edges`)}.node`) ?? type;
  return new Map([...types].map(([coordinate, type]) => [coordinate, nodeOf(type)]));
}

const namedType = (type: TypeNode): string =>
  type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type);

/** What an argument of a directive says, and of which type. */
interface Meaning {
  /** A path of fields, with a direction behind it or not; or a condition on a row. */
  readonly says: 'path' | 'condition';
  /** The type that the directive stands in, the one that its field leads to, or that of `relation`. */
  readonly of: 'own' | 'target' | 'related';
}

const OWN: Meaning = { says: 'path', of: 'own' };
const TARGET: Meaning = { says: 'path', of: 'target' };

const ARGUMENTS: Readonly<Record<string, Readonly<Record<string, Meaning>>>> = {
  index: { fields: OWN },
  search: { fields: OWN, of: OWN },
  table: { key: OWN },
  auth: { owner: OWN, tenant: OWN, where: { says: 'condition', of: 'own' } },
  relation: { inverse: TARGET, references: TARGET },
  list: {
    orderBy: TARGET,
    filter: TARGET,
    relation: OWN,
    where: { says: 'condition', of: 'target' },
  },
  count: { relation: OWN, where: { says: 'condition', of: 'related' } },
  exists: { relation: OWN, where: { says: 'condition', of: 'related' } },
  resolve: { by: TARGET },
};

/** Where the directive of a type or a field (`path`) names the field that is looked for. */
export function namesInDirective(
  node: DirectiveNode,
  path: readonly string[],
  looking: Looking,
): FieldName[] {
  const [own = '', field = ''] = path;
  const values = new Map(
    (node.arguments ?? []).map(({ name, value }) => [name.value, value as ConstValueNode]),
  );
  const relation = values.get('relation');
  const typeOf = {
    own,
    target: looking.types.get(`${own}.${field}`),
    related: relation?.kind === Kind.STRING && looking.types.get(`${own}.${relation.value}`),
  };
  return [...values].flatMap(([name, value]) => {
    const meaning = ARGUMENTS[node.name.value]?.[name];
    const type = meaning && typeOf[meaning.of];
    if (!type) return [];
    return meaning.says === 'path'
      ? inPaths(value, type, looking)
      : inCondition(value, type, looking);
  });
}

function inPaths(value: ConstValueNode, type: string, looking: Looking): FieldName[] {
  if (value.kind === Kind.LIST) return value.values.flatMap((each) => inPaths(each, type, looking));
  if (value.kind !== Kind.STRING) return [];
  const [path = '', ...direction] = value.value.split(' ');
  const steps = path.split('.');
  const at = stepsOf(steps, type, looking);
  if (at.length === 0) return [];
  const renamed = (to: string) => {
    const named = steps.map((step, index) => (at.includes(index) ? to : step)).join('.');
    return JSON.stringify([named, ...direction].join(' '));
  };
  return [{ start: locationOf(value).start, end: locationOf(value).end, renamed }];
}

/** Which steps of a path are the field. */
function stepsOf(steps: readonly string[], type: string, { sought, types }: Looking): number[] {
  let at: string | undefined = type;
  return steps.flatMap((step, index) => {
    const isHere = at === sought.type && step === sought.from;
    at = types.get(`${at}.${step}`);
    return isHere ? [index] : [];
  });
}

/** The words of a condition that stand between a field and those of the same type. */
const WORDS = new Set(['and', 'or', 'not', 'some', 'every', 'none']);

function inCondition(value: ConstValueNode, type: string, looking: Looking): FieldName[] {
  if (value.kind === Kind.LIST)
    return value.values.flatMap((each) => inCondition(each, type, looking));
  if (value.kind !== Kind.OBJECT) return [];
  const { sought, types } = looking;
  return value.fields.flatMap(({ name, value: inner }) => {
    const { value: word, loc } = name;
    const ending = type === sought.type && word === `${sought.from}Id` ? 'Id' : '';
    const isHere = type === sought.type && word === `${sought.from}${ending}`;
    const below = types.get(`${type}.${word}`) ?? (WORDS.has(word) ? type : undefined);
    return [
      ...(isHere
        ? [{ start: loc!.start, end: loc!.end, renamed: (to: string) => `${to}${ending}` }]
        : []),
      ...(below === undefined ? [] : inCondition(inner, below, looking)),
    ];
  });
}
