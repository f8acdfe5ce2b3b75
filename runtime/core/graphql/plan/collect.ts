import {
  type DirectiveNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  isAbstractType,
  isObjectType,
  type SelectionSetNode,
} from 'graphql';
import { limitError } from '@twofold/schema';

/**
 * What is needed to read a selection: the fragments, the schema, and the variables that `@skip` and
 * `@include` use.
 */
export interface SelectionContext {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Limits how much may be planned; unlimited when absent. */
  readonly budget?: FieldBudget;
}

/** The nodes that select each field of the answer, by its key. */
export type Selected = Map<string, FieldNode[]>;

/**
 * The fields of an object, merged, in the order of the answer. See section 6.3.2 of the
 * specification, "Field Collection".
 *
 * @example collectFields(selecting, 'User', [field]).keys() // 'id', 'posts'
 */
export function collectFields(
  selecting: SelectionContext,
  type: string,
  nodes: readonly { readonly selectionSet?: SelectionSetNode | undefined }[],
): Selected {
  const selected: Selected = new Map();
  const visited = new Set<string>();
  for (const { selectionSet } of nodes)
    if (selectionSet) visit(selecting, type, selectionSet, selected, visited);
  selecting.budget?.spend(1 + selected.size);
  return selected;
}

function visit(
  selecting: SelectionContext,
  type: string,
  { selections }: SelectionSetNode,
  selected: Selected,
  visited: Set<string>,
): void {
  for (const selection of selections) {
    if (selection.directives?.length && !isIncluded(selecting, selection.directives)) continue;
    if (selection.kind === 'Field') {
      const key = selection.alias?.value ?? selection.name.value;
      const nodes = selected.get(key);
      if (nodes) nodes.push(selection);
      else selected.set(key, [selection]);
      continue;
    }
    if (selection.kind === 'InlineFragment') {
      const condition = selection.typeCondition?.name.value;
      if (condition === undefined || applies(selecting.schema, condition, type))
        visit(selecting, type, selection.selectionSet, selected, visited);
      continue;
    }
    const fragment = selecting.fragments.get(selection.name.value);
    if (!fragment || visited.has(selection.name.value)) continue;
    visited.add(selection.name.value);
    if (applies(selecting.schema, fragment.typeCondition.name.value, type))
      visit(selecting, type, fragment.selectionSet, selected, visited);
  }
}

function applies(schema: GraphQLSchema, condition: string, type: string): boolean {
  if (condition === type) return true;
  const [abstract, object] = [schema.getType(condition), schema.getType(type)];
  return isAbstractType(abstract) && isObjectType(object) && schema.isSubType(abstract, object);
}

/** Whether `@skip` and `@include` let a selection in. */
export function isIncluded(
  { variables }: Pick<SelectionContext, 'variables'>,
  directives: readonly DirectiveNode[],
): boolean {
  return directives.every((directive) => {
    if (directive.name.value !== 'skip' && directive.name.value !== 'include') return true;
    const value = directive.arguments?.find(({ name }) => name.value === 'if')?.value;
    const given =
      value?.kind === 'BooleanValue'
        ? value.value
        : value?.kind === 'Variable'
          ? variables[value.name.value]
          : undefined;
    return directive.name.value === 'skip' ? given !== true : given === true;
  });
}

/** The number of fields that may still be planned for an operation. */
interface FieldBudget {
  /** @throws GraphQLError `TOO_COSTLY` when the budget is exceeded. */
  spend(fields: number): void;
}

/** A plan of this size takes some 20 ms to make and a megabyte to keep. */
const MAX_FIELDS = 10_000;

/**
 * Limits the fields of a plan. The fields of a document are counted before planning, but the
 * selection of an abstract type is planned for each of its members, and so again at each nested
 * level.
 *
 * @example createFieldBudget().spend(10_001) // throws
 */
export function createFieldBudget(most = MAX_FIELDS): FieldBudget {
  let spent = 0;
  return {
    spend: (fields) => {
      spent += fields;
      if (spent > most)
        throw limitError(
          'TOO_COSTLY',
          `the operation asks for more than ${most} fields, counted for each type that an object may have`,
          { value: spent, limit: most },
        );
    },
  };
}
