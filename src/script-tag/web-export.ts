import { webExportDriver } from '../web-export/index.ts';
import { extendGlobal, findTag, startTag } from './start-tag.ts';

declare global {
  interface TruewardGlobal {
    webExportDriver: typeof webExportDriver;
  }
}

extendGlobal({ webExportDriver });
startTag(findTag(), webExportDriver);
