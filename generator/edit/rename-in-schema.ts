import { locationOf } from '@twofold/schema';
import { type ASTNode, Kind, type NameNode, parse, Source, visit } from 'graphql';
import type { Project, SourceText } from '@twofold/schema';
import { fieldTypes, type FieldTypes, namesInDirective } from './names-in-directives.ts';

/** What to rename: a type, or a field of a type. */
export type Rename =
  | { readonly kind: 'type'; readonly from: string; readonly to: string }
  | { readonly kind: 'field'; readonly type: string; readonly from: string; readonly to: string };

/** A range of a text and its new content. */
interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Renames in every schema file: the definition, its references, and for a field also the inputs,
 * arguments and orders that stand for it. With `marked` the definition gets `@renamed`, from which
 * the migration follows. Nothing else in the text changes.
 */
export function renameInSchema(
  sources: readonly SourceText[],
  rename: Rename,
  { project, marked }: { readonly project: Project; readonly marked: boolean },
): SourceText[] {
  const places = rename.kind === 'field' ? inputPlaces(rename, project) : new Map<string, string>();
  const stored = marked && (rename.kind === 'type' || isStored(rename, project));
  const types = fieldTypes(sources);
  return sources.map(({ file, text }) => ({
    file,
    text: replaceAll(text, findReplacements({ file, text }, { rename, places, stored, types })),
  }));
}

/** Whether the field's name is a name in the database: then the migration needs the old name. */
function isStored({ type, from }: Extract<Rename, { kind: 'field' }>, project: Project): boolean {
  const source = project.entities
    .find(({ name }) => name === type)
    ?.fields.find(({ name }) => name === from)?.source;
  return source?.kind === 'column' || (source?.kind === 'one' && source.key === 'own');
}

interface RenameScope {
  readonly rename: Rename;
  readonly stored: boolean;
  /** Schema coordinate of an input field, argument or enum value → its new name. */
  readonly places: ReadonlyMap<string, string>;
  readonly types: FieldTypes;
}

function findReplacements(
  { file, text }: SourceText,
  { rename, places, stored, types }: RenameScope,
): Replacement[] {
  const found: Replacement[] = [];
  const replace = (node: NameNode, to: string) =>
    found.push({ start: locationOf(node).start, end: locationOf(node).end, text: to });
  const path: string[] = [];
  visit(parse(new Source(text, file)), {
    enter(node) {
      if (isNamed(node)) path.push(node.name.value);
      if (rename.kind === 'type') renameType(node, rename, { replace, found, stored });
      else renameField(node, rename, { replace, found, path, stored, types });
      const to = isNamed(node) ? places.get(path.join('.')) : undefined;
      if (to !== undefined && isNamed(node) && node.kind !== Kind.FIELD_DEFINITION)
        replace(node.name, to);
    },
    leave(node) {
      if (isNamed(node)) path.pop();
    },
  });
  return found;
}

type NamedNode = Extract<
  ASTNode,
  {
    readonly kind:
      | Kind.FIELD_DEFINITION
      | Kind.INPUT_VALUE_DEFINITION
      | Kind.ENUM_VALUE_DEFINITION
      | Kind.OBJECT_TYPE_DEFINITION;
  }
>;

/** Whether a node is part of a schema coordinate. */
function isNamed(node: ASTNode): node is NamedNode {
  return (
    /Type(Definition|Extension)$|^(Field|InputValue|EnumValue)Definition$/.test(node.kind) &&
    node.kind !== Kind.OPERATION_TYPE_DEFINITION
  );
}

interface RenameEdits {
  readonly replace: (node: NameNode, to: string) => void;
  readonly found: Replacement[];
}

function renameType(
  node: ASTNode,
  { from, to }: Rename,
  { replace, found, stored }: RenameEdits & { readonly stored: boolean },
): void {
  const named =
    node.kind === Kind.NAMED_TYPE ||
    (isNamed(node) && /Type(Definition|Extension)$/.test(node.kind))
      ? (node as { name: NameNode }).name
      : null;
  if (named?.value !== from) return;
  replace(named, to);
  if (stored && node.kind === Kind.OBJECT_TYPE_DEFINITION)
    found.push(renamedAfter(node.interfaces?.at(-1)?.loc?.end ?? locationOf(named).end, from));
}

function renameField(
  node: ASTNode,
  rename: Extract<Rename, { kind: 'field' }>,
  {
    replace,
    found,
    path,
    stored,
    types,
  }: RenameEdits & {
    readonly path: readonly string[];
    readonly stored: boolean;
    readonly types: FieldTypes;
  },
): void {
  const { type, from, to } = rename;
  const here = path.length === 2 && path[0] === type && path[1] === from;
  if (node.kind === Kind.FIELD_DEFINITION && here) {
    replace(node.name, to);
    if (stored) found.push(renamedAfter(locationOf(node.type).end, from));
  }
  if (node.kind !== Kind.DIRECTIVE) return;
  for (const { start, end, renamed } of namesInDirective(node, path, { sought: rename, types }))
    found.push({ start, end, text: renamed(to) });
}

function renamedAfter(at: number, from: string): Replacement {
  return { start: at, end: at, text: ` @renamed(from: ${JSON.stringify(from)})` };
}

/** Input fields, arguments and enum values that are inferred from the field, by coordinate. */
function inputPlaces(
  { type, from, to }: Extract<Rename, { kind: 'field' }>,
  project: Project,
): Map<string, string> {
  const column = project.entities
    .find(({ name }) => name === type)
    ?.fields.find(({ name }) => name === from)?.source;
  const places = new Map<string, string>();
  const put = (holder: string, name: string) => {
    const renamed =
      name === from
        ? to
        : name === `${from}Id`
          ? `${to}Id`
          : name === `${from}Ids`
            ? `${to}Ids`
            : null;
    if (renamed !== null) places.set(`${holder}.${name}`, renamed);
  };
  const stands = (each: object) =>
    column?.kind === 'column'
      ? 'column' in each && each.column === column.column
      : 'field' in each && each.field === from;
  for (const { id, entity, writes } of project.writes)
    if (entity === type)
      writes.filter(stands).forEach((write) => put(id.slice(0, id.lastIndexOf(':')), write.name));
  for (const { id, entity, filters } of project.filters)
    if (entity === type) filters.filter(stands).forEach((filter) => put(id, filter.name));
  for (const { id, entity, form } of project.orders) {
    if (entity !== type || column?.kind !== 'column') continue;
    if (form.kind === 'enum')
      form.values
        .filter(stands)
        .forEach(({ value }) =>
          places.set(`${id}.${value}`, value.replace(upper(from), upper(to))),
        );
    if (form.kind === 'fields') form.fields.filter(stands).forEach(({ name }) => put(id, name));
  }
  for (const { root, name, action } of project.operations) {
    const holder = `${root.charAt(0).toUpperCase()}${root.slice(1)}.${name}`;
    const pairs =
      action.kind === 'get' ? action.by : action.kind === 'list' ? action.list.filters : [];
    if ('entity' in action && action.entity === type)
      pairs.filter(stands).forEach(({ arg }) => put(holder, arg));
  }
  return places;
}

/** `fullName` → `FULL_NAME` */
function upper(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase();
}

function replaceAll(text: string, replacements: readonly Replacement[]): string {
  const inOrder = [...replacements].sort((a, b) => b.start - a.start || b.end - a.end);
  return inOrder.reduce(
    (now, { start, end, text: piece }) => now.slice(0, start) + piece + now.slice(end),
    text,
  );
}
