import type { Listening } from './listeners.ts';

/** The ingress of an installation, as its servers write it down for each other. */
export interface IngressRecord extends Pick<Listening, 'http' | 'https'> {
  readonly host: string;
  readonly pid: number;
  /** Where a process of its own takes commands; null for one that lives in its server. */
  readonly socket: string | null;
}

/** Where it is written down: in the database, which is what makes two servers one installation. */
export interface IngressRecords {
  read(): Promise<IngressRecord | null>;
  write(record: IngressRecord): Promise<void>;
}
