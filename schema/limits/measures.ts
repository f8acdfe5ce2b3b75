import {
  type DefinitionNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type NameNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import type { ApiLimits } from '../model.ts';

/** The sizes of an operation. */
export interface Measures {
  readonly depth: number;
  readonly aliases: number;
  readonly rootFields: number;
  readonly directives: number;
  /** Fields of all objects; a fragment counts each time it is spread. */
  readonly fields: number;
}

/** The fragments of a document by their names. */
export type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

type Measure = Exclude<keyof Measures, 'fields'>;

/**
 * The most fields of a plan, whatever the manifest says: a short document whose fragments spread
 * each other can select millions.
 */
const MAX_FIELDS = 10_000;

/**
 * Where an operation could come to more objects than `api.limits.cost` because lists multiply, the
 * lists inside an object that no size is asked for have only so many rows: the first number that
 * suffices.
 */
export const NESTED_PAGES: readonly number[] = [50, 20, 10];

const CODES: Readonly<Record<Measure, string>> = {
  depth: 'TOO_DEEP',
  aliases: 'TOO_MANY_ALIASES',
  rootFields: 'TOO_MANY_ROOT_FIELDS',
  directives: 'TOO_MANY_DIRECTIVES',
};

const WORDS: Readonly<Record<Measure, string>> = {
  depth: 'depth',
  aliases: 'aliases',
  rootFields: 'root fields',
  directives: 'directives',
};

const MEASURES: readonly Measure[] = ['depth', 'aliases', 'rootFields', 'directives'];

/** A fragment may be spread at any level, so its root fields are not counted. */
const BELOW_ROOT = MEASURES.filter((measure) => measure !== 'rootFields');

/** An error that names the limit, the operation's value and the allowed one. Its status is 400. */
export function limitError(
  code: string,
  message: string,
  figures: { readonly value: number; readonly limit: number; readonly coordinate?: string },
): GraphQLError {
  return new GraphQLError(message, { extensions: { code, ...figures } });
}

/**
 * Finds the limit that a document exceeds; undefined when there is none. It runs before validation,
 * which takes a hundred times as long, so unused fragments count as well. Validation refuses
 * fragments that spread themselves.
 */
export function checkMeasures(
  definitions: readonly DefinitionNode[],
  fragments: Fragments,
  limits: ApiLimits,
): GraphQLError | undefined {
  const measure = createMeasure(fragments);
  for (const definition of definitions) {
    const over = ofDefinition(definition, measure, limits);
    if (over) return over;
  }
  return undefined;
}

function ofDefinition(
  definition: DefinitionNode,
  measure: (definition: Measured) => Measures,
  limits: ApiLimits,
): GraphQLError | undefined {
  if (definition.kind === 'OperationDefinition')
    return exceeding(measure(definition), MEASURES, limits);
  if (definition.kind !== 'FragmentDefinition' || isIntrospection(definition.typeCondition.name))
    return undefined;
  return exceeding(measure(definition), BELOW_ROOT, limits);
}

function exceeding(
  measures: Measures,
  counted: readonly Measure[],
  limits: ApiLimits,
): GraphQLError | undefined {
  const over = counted.find(
    (measure) => measures[measure] > limits[measure] && measures[measure] !== Infinity,
  );
  if (over) return exceeded(over, measures[over], limits[over]);
  return measures.fields > MAX_FIELDS
    ? limitError(
        'TOO_COSTLY',
        `the operation asks for ${measures.fields} fields, ${MAX_FIELDS} are allowed`,
        { value: measures.fields, limit: MAX_FIELDS },
      )
    : undefined;
}

function exceeded(measure: Measure, value: number, limit: number): GraphQLError {
  return limitError(
    CODES[measure],
    `the operation has ${value} ${WORDS[measure]}, ${limit} are allowed`,
    { value, limit },
  );
}

type Measured = Pick<
  OperationDefinitionNode | FragmentDefinitionNode,
  'selectionSet' | 'directives'
>;

/**
 * Counts what a definition selects; a fragment counts each time it is spread, but is visited only
 * once.
 *
 * @example createMeasure(fragmentsOf(document))(operation).depth // 3
 */
export function createMeasure(fragments: Fragments): (definition: Measured) => Measures {
  const known = new Map<string, Measures>();
  const ofFragment = (name: string): Measures => {
    const found = known.get(name);
    if (found) return found;
    known.set(name, ENDLESS);
    const fragment = fragments.get(name);
    const measures = fragment ? ofDefinition(fragment) : NOTHING;
    known.set(name, measures);
    return measures;
  };
  const ofSelection = ({ selections }: SelectionSetNode): Measures =>
    selections
      .map((selection): Measures => {
        const directives = selection.directives?.length ?? 0;
        if (selection.kind === 'FragmentSpread')
          return withDirectives(ofFragment(selection.name.value), directives);
        if (selection.kind === 'InlineFragment')
          return withDirectives(ofSelection(selection.selectionSet), directives);
        return ofField(selection, directives, ofSelection);
      })
      .reduce(together, NOTHING);
  const ofDefinition = ({ selectionSet, directives }: Measured): Measures =>
    withDirectives(ofSelection(selectionSet), directives?.length);
  return ofDefinition;
}

const NOTHING: Measures = { depth: 0, aliases: 0, rootFields: 0, directives: 0, fields: 0 };
/** The size of a fragment that spreads itself, to end the recursion. Validation refuses it. */
const ENDLESS: Measures = { depth: Infinity, aliases: 0, rootFields: 0, directives: 0, fields: 0 };

/** Introspection nests types in types. A validation rule of its own limits it. */
const isIntrospection = ({ value }: NameNode) => value.startsWith('__');

function ofField(
  field: FieldNode,
  directives: number,
  ofSelection: (set: SelectionSetNode) => Measures,
): Measures {
  const below =
    field.selectionSet && !isIntrospection(field.name) ? ofSelection(field.selectionSet) : NOTHING;
  return {
    depth: below.depth + 1,
    aliases: below.aliases + (field.alias ? 1 : 0),
    rootFields: 1,
    directives: below.directives + directives,
    fields: below.fields + 1,
  };
}

const withDirectives = (measures: Measures, directives = 0): Measures => ({
  ...measures,
  directives: measures.directives + directives,
});

const together = (a: Measures, b: Measures): Measures => ({
  depth: Math.max(a.depth, b.depth),
  aliases: a.aliases + b.aliases,
  rootFields: a.rootFields + b.rootFields,
  directives: a.directives + b.directives,
  fields: a.fields + b.fields,
});
