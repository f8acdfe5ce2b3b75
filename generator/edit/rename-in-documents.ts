import {
  type ASTNode,
  getNamedType,
  type GraphQLSchema,
  Kind,
  type NameNode,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { type DocumentText, placeIn } from '../documents/document-text.ts';
import type { RenamedNames } from './renamed-names.ts';

/** A name in a file, which counts lines and columns from 1, and its new text. */
interface NewName {
  readonly line: number;
  readonly column: number;
  readonly from: string;
  readonly to: string;
}

/**
 * The text of a file after its documents were renamed: fields, arguments, inputs, enum values and
 * types. `schema` is the one from before.
 *
 * @example renameInDocuments(text, documents, { schema, names: new Map([['Post.status', 'phase']]) })
 */
export function renameInDocuments(
  text: string,
  documents: readonly DocumentText[],
  { schema, names }: { readonly schema: GraphQLSchema; readonly names: RenamedNames },
): string {
  const [mark, plain] = text.startsWith('\ufeff') ? ['\ufeff', text.slice(1)] : ['', text];
  const lines = plain.split(/(?<=\r\n|\n|\r(?!\n))/);
  const changes = documents.flatMap((each) => newNames(each, schema, names));
  changes.sort((a, b) => b.line - a.line || b.column - a.column);
  for (const { line, column, from, to } of changes) {
    const now = lines[line - 1] ?? '';
    // Escapes in a template move what stands behind them: such a name is left to the check.
    if (now.slice(column - 1, column - 1 + from.length) !== from) continue;
    lines[line - 1] = now.slice(0, column - 1) + to + now.slice(column - 1 + from.length);
  }
  return mark + lines.join('');
}

function newNames(document: DocumentText, schema: GraphQLSchema, names: RenamedNames): NewName[] {
  const found: NewName[] = [];
  const types = new TypeInfo(schema);
  const enter = (node: ASTNode) => {
    const name = nameOf(node);
    if (!name?.loc) return;
    const to = names.get(coordinateOf(node, name.value, types));
    if (to === undefined) return;
    const { line, column } = name.loc.startToken;
    found.push({ ...placeIn(document, { line, column }), from: name.value, to });
  };
  visit(parse(document.text), visitWithTypeInfo(types, { enter }));
  return found;
}

/** An enum value has its text where other nodes have a name. */
const nameOf = (
  node: ASTNode,
): { readonly value: string; readonly loc?: NameNode['loc'] } | null =>
  node.kind === Kind.ENUM ? node : 'name' in node && node.name ? node.name : null;

function coordinateOf(node: ASTNode, name: string, types: TypeInfo): string {
  switch (node.kind) {
    case Kind.FIELD:
      return `${types.getParentType()?.name}.${name}`;
    case Kind.ARGUMENT:
      return types.getDirective()
        ? ''
        : `${types.getParentType()?.name}.${types.getFieldDef()?.name}.${name}`;
    case Kind.OBJECT_FIELD:
      return `${parentInput(types)}.${name}`;
    case Kind.ENUM:
      return `${getNamedType(types.getInputType())?.name}.${name}`;
    case Kind.NAMED_TYPE:
      return name;
    default:
      return '';
  }
}

const parentInput = (types: TypeInfo) => getNamedType(types.getParentInputType())?.name;
