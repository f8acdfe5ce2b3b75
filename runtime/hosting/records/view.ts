import { type HostedApp, type Deployment, healthCheckOf, type MovedApp } from './app.ts';
import { showPreview, showPreviewRules } from './previews.ts';
import { backupRulesOf } from './backup-rules.ts';
import { showHttpRules } from './http-rules.ts';
import { given, PROCESS_FIELDS, showFiles } from './process-fields.ts';

/** Replaces the value of a secret in responses. */
export const MASK = '********';

/** Returns the URL of a domain, with the scheme and port of the ingress. */
export type AddressOf = (domain: string) => string;

/** The data from the server that the view of an app needs. */
export interface ViewContext {
  readonly addressOf: AddressOf;
  /** The port to show for an app that has configured none and was never deployed. */
  readonly port: number;
}

/** An app as the API shows it: with the keys of its secrets, but without their values. */
export function showApp(app: HostedApp, { addressOf, port }: ViewContext): Record<string, unknown> {
  const { spec } = app;
  return {
    id: app.id,
    name: app.name,
    status: app.status,
    domain: spec.worker ? null : spec.domain,
    image: spec.image,
    created_at: app.created_at,
    updated_at: app.updated_at,
    port: spec.worker ? null : (spec.port ?? spec.usedPort ?? port),
    env: { ...app.env, ...Object.fromEntries(Object.keys(app.secrets).map((key) => [key, MASK])) },
    aliases: spec.aliases,
    volumes: spec.volumes,
    replicas: spec.replicas,
    resources: spec.resources,
    health: healthCheckOf(spec),
    http: showHttpRules(spec.http),
    previews: showPreviewRules(spec),
    ...(spec.preview && { preview: showPreview(spec) }),
    ...(spec.moved && { moved: showMoved(spec.moved) }),
    cron: spec.cron ?? [],
    ...(spec.build && { build: spec.build }),
    backup: backupRulesOf(spec.backup),
    release: spec.release ?? null,
    processes: spec.processes ?? [],
    ports: spec.ports ?? [],
    ...(spec.command && { command: spec.command }),
    project: spec.project ?? null,
    ...(spec.networks?.length && { networks: spec.networks }),
    ...given(spec, PROCESS_FIELDS),
    ...(app.files?.length && { files: showFiles(app.files) }),
    source: spec.source,
    deployment: app.deployment,
    url: spec.worker ? null : addressOf(spec.domain),
    restarts: app.restarts,
    ...(app.error && { error: app.error }),
  };
}

/** Without the token that the other server knows. */
const showMoved = ({ to, until }: MovedApp) => ({ to, until: new Date(until).toISOString() });

/** Shorter secrets are not masked, because they appear inside too many ordinary words. */
const MIN_MASKED_LENGTH = 6;

/** Masks the values of an app's secrets in a line of its output, before the line is stored. */
export function hideSecrets({ secrets }: Pick<HostedApp, 'secrets'>, line: string): string {
  return Object.values(secrets)
    .filter(({ length }) => length >= MIN_MASKED_LENGTH)
    .reduce((text, secret) => text.replaceAll(secret, MASK), line);
}

/** Masks every value of an app's environment too, in a text that leaves the host. */
export function hideValues(
  { env, secrets }: Pick<HostedApp, 'env' | 'secrets'>,
  text: string,
): string {
  return [...Object.values(env), ...Object.values(secrets)]
    .filter(({ length }) => length >= MIN_HIDDEN_LENGTH)
    .sort((a, b) => b.length - a.length)
    .reduce((masked, value) => masked.replaceAll(value, MASK), text);
}

/** A shorter value, such as `1`, is a part of most sentences. */
const MIN_HIDDEN_LENGTH = 3;

/** A deployment as the API shows it. The build log has a route of its own. */
export function showDeployment(deployment: Deployment, app: HostedApp): Record<string, unknown> {
  const { app_id: _id, build_log, ...rest } = deployment;
  return {
    app: app.name,
    ...rest,
    current: app.deployment === deployment.number,
    has_build_log: build_log !== null,
  };
}
