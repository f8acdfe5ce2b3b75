import {
  type DocumentNode,
  getNamedType,
  type GraphQLInputType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** The parts of a schema that a document uses. */
export interface Usage {
  /** Fields that it selects, arguments that it gives, fields of inputs and values that it names. */
  readonly named: ReadonlySet<string>;
  /** Inputs and enums that are sent in variables, with all types that these inputs contain. */
  readonly variables: ReadonlySet<string>;
  /** The types that its variables are declared with. */
  readonly declared: ReadonlySet<string>;
  /** Input types that the document writes as literals. */
  readonly literals: ReadonlySet<string>;
  /** Types of the selected fields. */
  readonly answers: ReadonlySet<string>;
  /** Types that its fragments are on. */
  readonly conditions: ReadonlySet<string>;
}

/**
 * Finds the parts of a schema that a document uses. The document must be valid for the schema.
 *
 * @example
 * usageOf(parse('{ posts(limit: 1) { title } }'), schema).named // Query.posts, Query.posts(limit:), Post.title
 */
export function usageOf(document: DocumentNode, schema: GraphQLSchema): Usage {
  const usage = {
    named: new Set<string>(),
    variables: new Set<string>(),
    declared: new Set<string>(),
    literals: new Set<string>(),
    answers: new Set<string>(),
    conditions: new Set<string>(),
  };
  const types = new TypeInfo(schema);
  const name = (owner: { readonly name: string } | null | undefined, member: string) =>
    void (owner && usage.named.add(`${owner.name}.${member}`));
  visit(
    document,
    visitWithTypeInfo(types, {
      [Kind.FIELD](node) {
        name(types.getParentType(), node.name.value);
        usage.answers.add(getNamedType(types.getType())?.name ?? '');
      },
      [Kind.DIRECTIVE]: (node) => void usage.named.add(`@${node.name.value}`),
      [Kind.ARGUMENT](node) {
        const directive = types.getDirective();
        if (directive) usage.named.add(`@${directive.name}(${node.name.value}:)`);
        else name(types.getParentType(), `${types.getFieldDef()?.name}(${node.name.value}:)`);
      },
      [Kind.OBJECT]: () => void usage.literals.add(getNamedType(types.getInputType())?.name ?? ''),
      [Kind.OBJECT_FIELD](node) {
        name(getNamedType(types.getParentInputType()), node.name.value);
      },
      [Kind.ENUM](node) {
        name(getNamedType(types.getInputType()), node.value);
      },
      [Kind.FRAGMENT_DEFINITION]: (node) =>
        void usage.conditions.add(node.typeCondition.name.value),
      [Kind.INLINE_FRAGMENT]: (node) =>
        void (node.typeCondition && usage.conditions.add(node.typeCondition.name.value)),
      [Kind.VARIABLE_DEFINITION]() {
        usage.declared.add(getNamedType(types.getInputType())?.name ?? '');
        addInputs(types.getInputType(), usage.variables);
      },
    }),
  );
  return usage;
}

/** Adds the type; for an input, also the types of all its fields. */
function addInputs(type: GraphQLInputType | null | undefined, found: Set<string>): void {
  const named = getNamedType(type);
  if (!named || found.has(named.name)) return;
  found.add(named.name);
  if (isEnumType(named) || !isInputObjectType(named)) return;
  for (const field of Object.values(named.getFields())) addInputs(field.type, found);
}
