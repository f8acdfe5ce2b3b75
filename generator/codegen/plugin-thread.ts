import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type { CodegenDocument, CodegenEntry, CodegenResult, CodegenTask } from './entry.ts';
import { printOutput, type OutputOptions, type PluginModule } from './print-output.ts';
import { type GraphqlModule, graphqlOf } from './graphql-of.ts';
import { resolveName } from './resolve-plugin.ts';

// Plugins run in a thread of this process, because one that never ends can only be ended there.

interface Preset {
  readonly prepareDocuments?: (file: string, globs: readonly string[]) => unknown;
  readonly buildGeneratesSection: (options: object) => Promise<readonly OutputOptions[]>;
}

async function resultsOf({ root, sdl, entries }: CodegenTask): Promise<CodegenResult[]> {
  const results: CodegenResult[] = [];
  for (const { entry, documents } of entries) {
    parentPort!.postMessage({ begins: entry.path }, []);
    try {
      results.push({ path: entry.path, files: await filesOf(entry, { root, sdl, documents }) });
    } catch (error) {
      const plugin = (error as { readonly plugin?: string }).plugin;
      const message = error instanceof Error ? error.message : String(error);
      results.push({
        path: entry.path,
        failure: { message: message.trim(), ...(plugin !== undefined && { plugin }) },
      });
    }
  }
  return results;
}

interface Inputs {
  readonly root: string;
  readonly sdl: string;
  readonly documents: readonly CodegenDocument[];
}

async function filesOf(
  entry: CodegenEntry,
  inputs: Inputs,
): Promise<{ path: string; text: string }[]> {
  const plugins = entry.plugins.map(({ name, config }) => ({ [name]: config }));
  const pluginMap: Record<string, PluginModule> = {};
  for (const { name } of entry.plugins)
    pluginMap[name] = (await load(inputs.root, 'plugin', name)) as PluginModule;
  const shared = { plugins, pluginMap, config: configOf(entry), pluginContext: {}, profiler };
  if (entry.preset === undefined) {
    const text = await printOutput(
      { filename: entry.path, documentTransforms: [], ...shared, documents: [] },
      (name) => inputsFor(inputs, resolveName(inputs.root, 'plugin', name)!),
    );
    return [{ path: entry.path, text }];
  }
  return presetFiles(entry, inputs, shared);
}

async function presetFiles(
  entry: CodegenEntry,
  inputs: Inputs,
  shared: object,
): Promise<{ path: string; text: string }[]> {
  const name = entry.preset!;
  const preset = presetIn(await load(inputs.root, 'preset', name));
  const given = await inputsFor(inputs, resolveName(inputs.root, 'preset', name)!);
  const outputs = await preset.buildGeneratesSection({
    baseOutputDir: entry.path,
    presetConfig: entry.presetConfig,
    documentTransforms: [],
    ...given,
    ...shared,
  });
  const files: { path: string; text: string }[] = [];
  for (const output of outputs) {
    const text = await printOutput(output, () => Promise.resolve(given));
    // graphql-codegen writes no empty file.
    if (text !== '') files.push({ path: output.filename, text });
  }
  return files;
}

function presetIn(module: Record<string, unknown>): Preset {
  return (module['preset'] ?? module['default'] ?? module) as Preset;
}

/** The configuration with the two members that graphql-codegen always adds. */
function configOf({ config }: CodegenEntry): Record<string, unknown> {
  const legacy = config['emitLegacyCommonJSImports'] as boolean | undefined;
  const extension = config['importExtension'] as string | undefined;
  return {
    ...config,
    importExtension: extension ?? (legacy === false ? '.js' : ''),
    emitLegacyCommonJSImports: legacy ?? true,
  };
}

async function load(
  root: string,
  kind: 'plugin' | 'preset',
  name: string,
): Promise<Record<string, unknown>> {
  const file = resolveName(root, kind, name);
  if (file === null) throw Object.assign(new Error(`${name} is not installed`), { plugin: name });
  try {
    const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
    const inner = module['default'] as Record<string, unknown> | undefined;
    return typeof module['plugin'] === 'function' || !inner?.['plugin'] ? module : inner;
  } catch (error) {
    throw Object.assign(new Error(error instanceof Error ? error.message : String(error)), {
      plugin: name,
    });
  }
}

/**
 * Schemas and documents, by the copy of `graphql` that made them: a plugin must get objects of its
 * own copy.
 */
const known = new Map<string, Promise<object>>();

function inputsFor({ root, sdl, documents }: Inputs, file: string) {
  const graphql = graphqlOf(root, file);
  const key = `${graphql.path}\n${documents.map(({ location, text }) => location + text).join('\n')}`;
  const made = known.get(key) ?? makeInputs(graphql.module, { sdl, documents, file });
  known.set(key, made);
  return made as ReturnType<typeof makeInputs>;
}

async function makeInputs(
  graphql: GraphqlModule,
  { sdl, documents, file }: Pick<Inputs, 'sdl' | 'documents'> & { readonly file: string },
) {
  const built = graphql.buildASTSchema(graphql.parse(sdl, { noLocation: true }), {
    assumeValidSDL: true,
  });
  const schemaAst = graphql.lexicographicSortSchema(built);
  return {
    graphql,
    schemaAst,
    schema: documentOf(graphql, schemaAst, file),
    documents: documents.map(({ location, text }) => ({
      location,
      rawSDL: text,
      document: graphql.parse(new graphql.Source(text, location)),
    })),
  };
}

/** The schema as a document, by the package that plugins print it with, where it is installed. */
function documentOf(graphql: GraphqlModule, schema: object, file: string): object {
  try {
    const { getCachedDocumentNodeFromSchema } = createRequire(file)(
      '@graphql-codegen/plugin-helpers',
    ) as { getCachedDocumentNodeFromSchema: (schema: object) => object };
    return getCachedDocumentNodeFromSchema(schema);
  } catch {
    return graphql.parse(graphql.printSchema(schema as never));
  }
}

/** Plugins may measure their own time with it. The measurements are not kept. */
const profiler = {
  outputName: undefined,
  run: (action: () => unknown) => Promise.resolve().then(action),
  collect: () => [],
  clear: () => {},
};

parentPort!.postMessage(await resultsOf(workerData as CodegenTask), []);
