import type { HostingModel } from '@twofold/schema';
import { code, file, packaged } from '../code.ts';
import { literal, type LiteralValue } from '../literal.ts';
import { HEADER } from '../owned/header.ts';
import { bytes, span } from '../owned/settings.ts';

/** `src/generated/hosting.ts`: what the server hosts, and within which limits. */
export function renderHosting(hosting: HostingModel): string {
  return file(
    HEADER,
    code`
      /** What this server hosts, and within which limits: the manifest's \`hosting\` section with every default filled in. */
      export const hostingSettings: ${packaged('@twofold/hosting', 'HostingModel', { typeOnly: true })} = ${literal(readable(hosting), { open: true })};
    `,
  );
}

function readable(hosting: HostingModel): LiteralValue {
  const { defaults, deploys, build, source } = hosting;
  return {
    ...(hosting as unknown as Record<string, LiteralValue>),
    defaults: { ...defaults, memory: bytes(defaults.memory) },
    deploys: { ...deploys, readyTimeout: span(deploys.readyTimeout), drain: span(deploys.drain) },
    build: { ...build, timeout: span(build.timeout), memory: bytes(build.memory) },
    source: { ...source, max: bytes(source.max), maxUnpacked: bytes(source.maxUnpacked) },
    diskFloor: bytes(hosting.diskFloor),
  };
}
