import { code, file, local, runtime } from '../code.ts';

/** `src/server.ts`: written once; it belongs to the user. */
export function renderServer(): string {
  return file(
    '',
    code`
      const server = ${runtime('createServer')}(${local('./generated/app.ts', 'app')});

      // Add what every request passes through: server.use(async (ctx, next) => { … })

      // Listens where PORT and HOST say, or the manifest.
      await server.serve();
    `,
  );
}
