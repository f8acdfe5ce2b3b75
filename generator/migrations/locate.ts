import { type Diagnostic, type Project, type SourceText } from '@twofold/schema';
import { Kind, type NameNode, parse } from 'graphql';

type SchemaPlace = Diagnostic['at'];

/**
 * Finds the place of a table or column in the schema: `posts.rating` is the field `rating` of `type
 * Post`. A removed field is located at its type, and a removed type at the first file.
 */
export function createLocate(
  project: Project,
  schema: readonly SourceText[],
): (coordinate: string) => SchemaPlace {
  let found: Map<string, SchemaPlace> | undefined;
  return (coordinate) => {
    found ??= definitions(schema);
    const [table = '', column] = coordinate.split('.');
    const entity = project.entities.find((each) => each.table === table);
    const field = entity && column !== undefined && fieldOf(entity, column);
    return (
      (field ? found.get(`${entity.name}.${field}`) : undefined) ??
      (entity ? found.get(entity.name) : undefined) ?? {
        file: schema[0]?.file ?? 'schema.graphql',
        line: 1,
        column: 1,
        length: 1,
      }
    );
  };
}

/** The field that a column stores; for an index over several columns, the field of the first. */
function fieldOf(entity: Project['entities'][number], column: string): string | undefined {
  const [name = ''] = column.split(', ');
  return entity.fields.find(
    ({ source }) =>
      (source.kind === 'column' && source.column === name) ||
      (source.kind === 'one' && source.key === 'own' && source.column === name),
  )?.name;
}

/**
 * Places of types and fields by their coordinate. Only findings need them, so the text is parsed
 * again here.
 */
function definitions(schema: readonly SourceText[]): Map<string, SchemaPlace> {
  const places = new Map<string, SchemaPlace>();
  for (const { file, text } of schema) {
    for (const node of parse(text).definitions) {
      if (node.kind !== Kind.OBJECT_TYPE_DEFINITION && node.kind !== Kind.OBJECT_TYPE_EXTENSION)
        continue;
      const type = node.name.value;
      if (!places.has(type)) places.set(type, placeOf(node.name, file));
      for (const field of node.fields ?? [])
        places.set(`${type}.${field.name.value}`, placeOf(field.name, file));
    }
  }
  return places;
}

function placeOf({ value, loc }: NameNode, file: string): SchemaPlace {
  const { line, column } = loc!.startToken;
  return { file, line, column, length: value.length };
}
