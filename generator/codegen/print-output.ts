import { first } from '@twofold/schema';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { GraphqlModule } from './graphql-of.ts';

/** A document with its origin, in the form that plugins of graphql-codegen take. */
export interface PluginDocument {
  readonly location?: string;
  readonly rawSDL?: string;
  readonly document?: DocumentNode;
}

interface ComplexOutput {
  readonly content?: string;
  readonly prepend?: readonly string[];
  readonly append?: readonly string[];
}

/** The exports of a plugin's package. */
export interface PluginModule {
  readonly plugin?: (...given: readonly unknown[]) => unknown;
  readonly validate?: (...given: readonly unknown[]) => unknown;
  readonly addToSchema?: unknown;
}

/** One file of an entry, as a preset describes it. */
export interface OutputOptions {
  readonly filename: string;
  readonly plugins: readonly Readonly<Record<string, unknown>>[];
  readonly pluginMap: Readonly<Record<string, PluginModule>>;
  readonly config: unknown;
  readonly documents: readonly PluginDocument[];
  readonly schemaAst?: GraphQLSchema;
  readonly schema?: DocumentNode;
  readonly documentTransforms?: readonly Transform[];
  readonly skipDocumentsValidation?: unknown;
  readonly pluginContext?: object;
}

interface Transform {
  readonly name: string;
  readonly config?: unknown;
  readonly transformObject: {
    readonly transform: (options: object) => Promise<readonly PluginDocument[]>;
  };
}

/** Schema and documents, made with the `graphql` of a plugin. */
export interface PluginInputs {
  readonly graphql: GraphqlModule;
  readonly schemaAst: GraphQLSchema;
  readonly schema: object;
  readonly documents: readonly PluginDocument[];
}

/**
 * The text of one file: what its plugins print, in their order, behind what they all want at the
 * top. This is what `@graphql-codegen/core` does; that package is not used, because it would bring a
 * `graphql` of its own.
 */
export async function printOutput(
  output: OutputOptions,
  inputsFor: (plugin: string) => Promise<PluginInputs>,
): Promise<string> {
  const [prepend, append] = [new Set<string>(), new Set<string>()];
  const texts: string[] = [];
  for (const use of output.plugins) {
    const name = first(Object.keys(use));
    const given = withExtensions(await inputsFor(name), output);
    const documents = await transformed(
      output,
      output.documents.length > 0 ? output.documents : given.documents,
      given,
    );
    checkDocuments(given, documents, output);
    const result = await runPlugin(name, use[name], { output, given, documents });
    if (typeof result === 'string') texts.push(result);
    else if (isComplex(result)) {
      for (const line of result.prepend ?? []) if (line) prepend.add(line);
      for (const line of result.append ?? []) if (line) append.add(line);
      texts.push(result.content ?? '');
    }
  }
  return [...sortPrepended([...prepend]), ...texts, ...append].filter(Boolean).join('\n');
}

const isComplex = (result: unknown): result is ComplexOutput =>
  typeof result === 'object' && result !== null && 'content' in result;

interface Run {
  readonly output: OutputOptions;
  readonly given: PluginInputs;
  readonly documents: readonly PluginDocument[];
}

async function runPlugin(
  name: string,
  own: unknown,
  { output, given, documents }: Run,
): Promise<unknown> {
  const { plugin, validate } = output.pluginMap[name] ?? {};
  if (typeof plugin !== 'function')
    throw failed(
      name,
      `it exports no function "plugin": export const plugin = (schema, documents, config) => '…'`,
    );
  const config = configFor(output.config, own ?? {});
  const { pluginContext = {}, plugins: allPlugins, filename: outputFile } = output;
  try {
    await validate?.(given.schemaAst, documents, config, outputFile, allPlugins, pluginContext);
    return await plugin(given.schemaAst, documents, copied(config), {
      outputFile,
      allPlugins,
      pluginContext,
    });
  } catch (error) {
    throw failed(name, error instanceof Error ? error.message : String(error));
  }
}

const failed = (plugin: string, message: string): Error =>
  Object.assign(new Error(message), { plugin });

const copied = (config: unknown): unknown => (typeof config === 'object' ? { ...config } : config);

const configFor = (shared: unknown, own: unknown): unknown =>
  typeof own === 'object' ? { ...(shared as object), ...own } : own;

/** Types and directives that plugins of the file add to the schema. */
function withExtensions(
  given: PluginInputs,
  { plugins, pluginMap, config }: OutputOptions,
): PluginInputs {
  const added = plugins.flatMap((use) => {
    const { addToSchema } = pluginMap[first(Object.keys(use))] ?? {};
    const definitions =
      typeof addToSchema === 'function' ? (addToSchema(config) as unknown) : addToSchema;
    return definitions ? [definitions as DocumentNode | string] : [];
  });
  if (added.length === 0) return given;
  const { graphql } = given;
  const schemaAst = added.reduce<GraphQLSchema>(
    (schema, definitions) =>
      graphql.extendSchema(
        schema,
        typeof definitions === 'string' ? graphql.parse(definitions) : definitions,
        { assumeValidSDL: true },
      ),
    given.schemaAst,
  );
  return { ...given, schemaAst };
}

async function transformed(
  { documentTransforms = [], config, pluginContext }: OutputOptions,
  documents: readonly PluginDocument[],
  { schema }: PluginInputs,
): Promise<readonly PluginDocument[]> {
  if (documents.length === 0) return documents;
  let result = documents;
  for (const { transformObject, config: own } of documentTransforms)
    result = await transformObject.transform({
      documents: result,
      schema,
      config: typeof own === 'object' ? { ...(config as object), ...own } : {},
      pluginContext,
    });
  return result;
}

/**
 * Rules that graphql-codegen leaves out: a file alone may have a fragment that another one uses.
 */
const IGNORED = ['NoUnusedFragments', 'NoUnusedVariables', 'KnownDirectives'];

function checkDocuments(
  { graphql, schemaAst }: PluginInputs,
  documents: readonly PluginDocument[],
  { config, skipDocumentsValidation }: OutputOptions,
): void {
  const skip =
    skipDocumentsValidation ?? (config as Record<string, unknown>)?.['skipDocumentsValidation'];
  if (documents.length === 0 || skip === true) return;
  const options = (typeof skip === 'object' ? skip : {}) as {
    readonly ignoreRules?: readonly string[];
    readonly skipValidationAgainstSchema?: boolean;
  };
  if (options?.skipValidationAgainstSchema) return;
  const ignored = [...IGNORED, ...(options?.ignoreRules ?? [])];
  const external = ((config as Record<string, unknown>)?.['externalFragments'] ?? []) as readonly {
    readonly node: never;
  }[];
  const [error] = graphql.validate(
    schemaAst,
    {
      kind: graphql.Kind.DOCUMENT,
      definitions: [
        ...documents.flatMap(({ document }) => document?.definitions ?? []),
        ...external.map(({ node }) => node),
      ],
    },
    graphql.specifiedRules.filter(({ name }) => !ignored.some((rule) => name.startsWith(rule))),
  );
  const place = error?.source ? `${error.source.name}:${error.locations?.[0]?.line ?? 1}: ` : '';
  if (error) throw new Error(`${place}${error.message}`);
}

/** Comments come first, then `package`, imports and the rest. */
function sortPrepended(lines: readonly string[]): string[] {
  return lines.toSorted((a, b) => rankOf(a) - rankOf(b));
}

function rankOf(line: string): number {
  if (/^(\/\*|\/\/| \*|\*\/)/.test(line)) return 0;
  return line.startsWith('package') ? 1 : line.startsWith('import') ? 2 : 3;
}
