import { readBytes } from '../read-bytes.ts';
import { type Member, readMembers } from './tar-members.ts';

/** How an archive of ours is read: a member that describes it as JSON, then its parts. */
interface Form<Part> {
  /** The name of the first member, and its most bytes. */
  readonly description: string;
  readonly most: number;
  /** The error of an archive that is not as it should be. */
  readonly refused: (why: string) => Error;
  /** The part that begins with a member of this name; undefined for a name that no part has. */
  part(name: string, run: (prefix: string) => AsyncGenerator<Member>): Found<Part> | undefined;
  /** Called at the end of the archive; throws when it is not whole. */
  end?(): void;
}

interface Found<Part> {
  readonly part: Part;
  /** What is read of the part, to its end. */
  readonly rest: AsyncIterable<unknown>;
}

/** An archive that is being read. The reader reads all parts in their order, or closes it. */
export interface OpenArchive<Description, Part> {
  readonly description: Description;
  readonly parts: AsyncGenerator<Part>;
  close(): Promise<void>;
}

/** Reads the description of an archive, then its parts. @throws what `form.refused` makes */
export async function openParts<Description, Part>(
  chunks: AsyncIterable<Buffer>,
  form: Form<Part>,
): Promise<OpenArchive<Description, Part>> {
  const members = readMembers(chunks, ({ message }) => form.refused(message));
  try {
    const first = await members.next();
    if (first.done || first.value.header['name'] !== form.description)
      throw form.refused('it does not begin with a description');
    const bytes = await readBytes(first.value.data, form.most);
    return {
      description: parse(bytes, form) as Description,
      parts: readParts(members, form),
      close: async () => void (await members.return(undefined)),
    };
  } catch (error) {
    await members.return(undefined);
    throw error;
  }
}

function parse(bytes: Buffer, { refused }: Form<unknown>): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw refused('its description cannot be read');
  }
}

async function* readParts<Part>(
  members: AsyncGenerator<Member>,
  form: Form<Part>,
): AsyncGenerator<Part> {
  let next = await members.next();
  /** The members of one part, as long as they have this prefix. */
  const run = async function* (prefix: string): AsyncGenerator<Member> {
    while (!next.done && String(next.value.header['name']).startsWith(prefix)) {
      yield next.value;
      next = await members.next();
    }
  };
  try {
    while (!next.done) {
      const name = String(next.value.header['name']);
      const found = form.part(name, run);
      if (!found)
        throw form.refused(`it has an unknown member ${JSON.stringify(name.slice(0, 100))}`);
      yield found.part;
      for await (const _rest of found.rest);
    }
    form.end?.();
  } finally {
    await members.return(undefined);
  }
}

/** The bytes of a part that is one stream. */
export async function* joined(members: AsyncIterable<Member>): AsyncGenerator<Buffer> {
  for await (const { data } of members) yield* data;
}
