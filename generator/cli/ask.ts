import { createInterface } from 'node:readline/promises';

/** Asks the person at the terminal. Only where there is one: every question has a flag that answers it. */
export async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(question);
  } finally {
    lines.close();
  }
}
