// Files that were dropped, those in folders too, each by its path.

const READ = /\.(ya?ml|json|jsonl|swf|csv|gz|tgz|zip|tar|txt|qrec|quotalab)$/i;
const HIDDEN = /(^|\/)\./;

/** Return the files of a drop. Folders are looked through, as `quotalab import` does.
 *
 * Of a folder, a file under another name comes without its bytes: the report names it.
 */
export async function droppedFiles(given: DataTransfer): Promise<readonly File[]> {
  const entries = [...given.items].map((item) => item.webkitGetAsEntry());
  if (!entries.some((entry) => entry?.isDirectory)) return [...given.files];
  const found = await Promise.all(entries.filter((entry) => entry !== null).map((entry) => filesOf(entry, false)));
  return found.flat();
}

async function filesOf(entry: FileSystemEntry, inside: boolean): Promise<File[]> {
  const path = entry.fullPath.replace(/^\//, "");
  if (inside && HIDDEN.test(path)) return [];
  if (entry.isDirectory) {
    const entries = await entriesOf(entry as FileSystemDirectoryEntry);
    return (await Promise.all(entries.map((one) => filesOf(one, true)))).flat();
  }
  if (inside && !READ.test(path)) return [new File([], path)];
  const file = await new Promise<File>((done, failed) => {
    (entry as FileSystemFileEntry).file(done, failed);
  });
  return [new File([file], path)];
}

/** Return all entries of a folder in the order of their names; a reader gives them in parts. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const found: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((done, failed) => {
      reader.readEntries(done, failed);
    });
    if (part.length === 0) return found.sort((a, b) => (a.name < b.name ? -1 : 1));
    found.push(...part);
  }
}
