import type { Project } from '../model.ts';
import { capabilities } from '../capabilities.ts';
import type { ManifestValues, SectionModels } from '../sections.ts';
import type { Built } from './built.ts';
import { buildEntity, type BuiltEntity } from './entities.ts';
import { gatherFacts, type Facts, type Parsed } from './facts.ts';
import { linkRelations } from './links.ts';
import { buildLoaders } from './loaders.ts';
import { inferOperations, type OperationFact } from './operations.ts';
import { buildApi, buildObservability, buildServer } from './settings.ts';
import { errorTypes } from './result-types.ts';
import { createShapes, type Shapes } from './shapes.ts';
import { buildTypes } from './types.ts';
import { withPages } from './paged-sdl.ts';

const built = new WeakMap<Parsed, Built>();

/** Builds the model once for each input, so that rules and model use the same inference. */
export function build(parsed: Parsed): Built {
  const present = built.get(parsed);
  if (present) return present;
  const result = infer(parsed);
  built.set(parsed, result);
  return result;
}

/**
 * The model of a schema and a manifest. It is built even if rules find errors: call `checkSchema`
 * first.
 *
 * @example
 * buildProject({ schema: parseSchema(sources).parsed, manifest: parseManifest(null).manifest }).entities
 */
export function buildProject(parsed: Parsed): Project {
  return build(parsed).project;
}

function infer(parsed: Parsed): Built {
  const facts = gatherFacts(parsed);
  const links = linkRelations(facts);
  const shapes = createShapes(facts, links);
  const entities = [...facts.entities.values()].map((entity) => buildEntity(shapes, entity));
  const operations = inferOperations(shapes);
  return {
    facts,
    links,
    shapes,
    operations,
    entities,
    project: assemble(shapes, entities, operations),
  };
}

function assemble(
  { facts, ...shapes }: Shapes,
  built: readonly BuiltEntity[],
  operations: readonly OperationFact[],
): Project {
  const { values } = facts.manifest;
  const entities = built.map(({ entity }) => entity);
  return {
    name: values.name,
    sdl: withPages(facts, entities, operations),
    ...(facts.parsed.crudSdl !== undefined && { crudSdl: facts.parsed.crudSdl }),
    ids: values.database.ids,
    ...(!values.database.managed && { unmanaged: true }),
    ...transactions(values),
    ...migrationSettings(values),
    ...jobs(values),
    ...observability(values),
    entities,
    ...buildTypes(facts),
    operations: operations.map(({ operation }) => operation),
    loaders: buildLoaders(entities),
    writes: [...shapes.writes.values()],
    ...errorTypes(facts),
    filters: [...shapes.filters.values()],
    orders: [...shapes.orders.values()],
    api: buildApi(values),
    ...clients(values),
    server: buildServer(values),
    ...sectionModels(facts),
  };
}

const DEFAULT_TIMEOUT = 10_000;

/** The defaults are left out, so that no emitted model contains it. */
const transactions = ({ database: { transactionTimeout, isolation, read } }: ManifestValues) => ({
  ...(read.maxLag !== DEFAULT_TIMEOUT && { maxLag: read.maxLag }),
  ...(transactionTimeout !== DEFAULT_TIMEOUT && { transactionTimeout }),
  ...(isolation !== 'serializable' && { isolation }),
});

const DEFAULT_MIGRATIONS = { lockTimeout: 5_000, onlineFrom: 10_000 };

const migrationSettings = ({ database: { migrations } }: ManifestValues) =>
  migrations.lockTimeout === DEFAULT_MIGRATIONS.lockTimeout &&
  migrations.onlineFrom === DEFAULT_MIGRATIONS.onlineFrom
    ? {}
    : { migrations };

/** A duration of the manifest in the unit of the model. */
const DAY = 86_400_000;

/** The defaults are left out, so that no emitted model contains them. */
function jobs({ jobs: { concurrency, keep, keepFailed } }: ManifestValues): Pick<Project, 'jobs'> {
  return concurrency === 10 && keep === DAY && keepFailed === 30 * DAY
    ? {}
    : { jobs: { concurrency, keep, keepFailed } };
}

function clients({ client }: ManifestValues): Pick<Project, 'clients'> {
  return client === undefined ? {} : { clients: [client].flat() };
}

function observability(values: ManifestValues): Pick<Project, 'observability'> {
  const settings = buildObservability(values);
  return settings ? { observability: settings } : {};
}

/** The model of each capability that has its section at the top of the manifest. */
function sectionModels(facts: Facts): SectionModels {
  const models = capabilities.flatMap(({ name, build }) =>
    build ? [[name, build(facts)] as const] : [],
  );
  return Object.fromEntries(models) as unknown as SectionModels;
}
