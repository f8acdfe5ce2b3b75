import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Place } from '../change.ts';

/** An error of the compiler. */
export interface TypeError extends Place {
  /** `TS2345` */
  readonly code: string;
  readonly message: string;
}

/** The path of the project's own compiler; null where none is installed. */
export function compilerOf(project: string): string | null {
  try {
    const file = createRequire(join(project, 'package.json')).resolve('typescript/package.json');
    const { bin } = createRequire(import.meta.url)(file) as { bin: { tsc: string } };
    return join(dirname(file), bin.tsc);
  } catch {
    return null;
  }
}

/**
 * Type-checks a folder by its `tsconfig.json`, and emits nothing. The compiler runs no code of it.
 */
export async function typeErrors(folder: string, compiler: string): Promise<TypeError[]> {
  const args = [compiler, '--noEmit', '--pretty', 'false', '--incremental', 'false', '-p', folder];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const out: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => void out.push(chunk));
  await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  return parseErrors(Buffer.concat(out).toString().replaceAll(`${folder}/`, ''));
}

/** Lines as `src/a.ts(3,5): error TS2322: …`; those that go on are indented. */
function parseErrors(text: string): TypeError[] {
  return text.split('\n').flatMap((line) => {
    const [, file, row, column, code, message] =
      /^(?:(.+?)\((\d+),(\d+)\): )?error (TS\d+): (.*)$/.exec(line.trimEnd()) ?? [];
    if (!code || message === undefined) return [];
    return [
      {
        file: file ?? 'tsconfig.json',
        line: Number(row ?? 1),
        column: Number(column ?? 1),
        code,
        message,
      },
    ];
  });
}
