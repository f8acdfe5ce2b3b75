import { type HostedApp, type Deployment, healthCheckOf, HTTP_RULES } from './app.ts';

/** Stands for a secret's value in answers. */
export const MASK = '********';

/** Where an app is reached: the scheme and port of the ingress. */
export type AddressOf = (domain: string) => string;

/** What an app's view also takes from the server. */
export interface ViewContext {
  readonly addressOf: AddressOf;
  /** The port of an app that says none and has not been deployed. */
  readonly port: number;
}

/** An app as the API shows it. Values of secrets never leave; their keys do. */
export function showApp(app: HostedApp, { addressOf, port }: ViewContext): Record<string, unknown> {
  const { spec } = app;
  return {
    id: app.id,
    name: app.name,
    status: app.status,
    domain: spec.domain,
    image: spec.image,
    created_at: app.created_at,
    updated_at: app.updated_at,
    port: spec.port ?? spec.usedPort ?? port,
    env: { ...app.env, ...Object.fromEntries(Object.keys(app.secrets).map((key) => [key, MASK])) },
    aliases: spec.aliases,
    volumes: spec.volumes,
    replicas: spec.replicas,
    resources: spec.resources,
    health: healthCheckOf(spec),
    http: { ...HTTP_RULES, ...spec.http },
    ...(spec.command && { command: spec.command }),
    source: spec.source,
    deployment: app.deployment,
    url: addressOf(spec.domain),
    restarts: app.restarts,
    ...(app.error && { error: app.error }),
  };
}

/** Shorter values are in too many words to be hidden. */
const HIDDEN_FROM = 6;

/** A line of what an app printed, with the values of its secrets masked: it is kept where secrets are not. */
export function hideSecrets({ secrets }: Pick<HostedApp, 'secrets'>, line: string): string {
  return Object.values(secrets)
    .filter(({ length }) => length >= HIDDEN_FROM)
    .reduce((text, secret) => text.replaceAll(secret, MASK), line);
}

/** A deployment as the API shows it. The build log has a path of its own. */
export function showDeployment(deployment: Deployment, app: HostedApp): Record<string, unknown> {
  const { app_id: _id, build_log, ...rest } = deployment;
  return {
    app: app.name,
    ...rest,
    current: app.deployment === deployment.number,
    has_build_log: build_log !== null,
  };
}
