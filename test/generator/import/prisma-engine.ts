import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import * as engine from '@prisma/schema-engine-wasm/schema_engine_bg';

/** The SQL with which Prisma's own engine makes the tables of a schema in an empty database. */
export async function sqlOfPrisma(url: string, content: string): Promise<string> {
  await load();
  const adapter = bindMigrationAwareSqlAdapterFactory(new PrismaPg({ connectionString: url }));
  const made = await engine.SchemaEngine.new(
    { datamodels: [['schema.prisma', content]] },
    () => {},
    adapter,
  );
  try {
    const { stdout } = await made.diff({
      from: { tag: 'empty' },
      to: { tag: 'schemaDatamodel', files: [{ path: 'schema.prisma', content }] },
      script: true,
      exitCode: null,
      filters: { externalTables: [], externalEnums: [] },
    });
    return stdout ?? '';
  } finally {
    made.free();
  }
}

let loaded: Promise<void> | undefined;

const load = () => (loaded ??= instantiate());

/** The types of Node do not have this global. */
interface WithWebAssembly {
  readonly WebAssembly: {
    instantiate(
      bytes: Uint8Array,
      imports: object,
    ): Promise<{ readonly instance: { readonly exports: object } }>;
  };
}

/** Node loads WebAssembly as a module only behind a flag. */
async function instantiate(): Promise<void> {
  const path = createRequire(import.meta.url)
    .resolve('@prisma/schema-engine-wasm/schema_engine_bg')
    .replace(/\.js$/, '.wasm');
  const { WebAssembly } = globalThis as unknown as WithWebAssembly;
  const { instance } = await WebAssembly.instantiate(readFileSync(path), {
    './schema_engine_bg.js': engine,
  });
  const { exports } = instance;
  (engine as unknown as { __wbg_set_wasm(exports: object): void }).__wbg_set_wasm(exports);
  (exports as { __wbindgen_start(): void }).__wbindgen_start();
}
