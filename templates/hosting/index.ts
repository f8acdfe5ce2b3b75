import type { CapabilityTemplate } from '../capability.ts';
import { code, packaged } from '../code.ts';

const PACKAGE = '@twofold/hosting';

/** Hosting of container apps. */
export const hostingTemplate: CapabilityTemplate = {
  name: 'hosting',
  call: () => code`${packaged(PACKAGE, 'hosting')}()`,
  settings: {
    about: 'What this server hosts, and within which limits',
    as: 'hostingSettings',
    type: 'HostingModel',
    from: PACKAGE,
  },
  env: () => [
    { name: 'HOST_PASSWORD', why: 'Signs you in to the hosting API', value: '', secret: true },
  ],
  secrets: [{ name: 'HOST_PASSWORD', or: 'HOST_PASSWORD_HASH' }],
  engineSocket: ({ hosting }) =>
    hosting?.engine.kind === 'podman' ? '/run/podman/podman.sock' : '/var/run/docker.sock',
  readme: () => ({
    endpoints: [
      '| `/api/apps`, `/api/deploy`, `/api/templates`, `/api/system` | hosting of container apps |',
    ],
    pages: [['apps', 'hosting/docs/apps.md']],
  }),
  withoutInstallScript: ['cpu-features', 'protobufjs', 'ssh2'],
  hint: `# Container apps on this machine's Docker or Podman:
# hosting: {}
`,
};
