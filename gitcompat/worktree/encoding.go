package worktree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

var (
	errEncoding = errors.New("unknown encoding")
	errBytes    = errors.New("bytes that are not of the encoding")
)

// encodingName brings the many spellings of a name together.
func encodingName(s string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToUpper(s))
}

func isUTF8Name(name string) bool {
	return name == "" || strings.EqualFold(name, "utf8") || strings.EqualFold(name, "utf-8")
}

// charsetOf returns the character set with a table; UTF-16 and UTF-32 are not
// among them.
func charsetOf(name string) encoding.Encoding {
	n := encodingName(name)
	if m := charmapOf(n); m != nil {
		return m
	}
	switch n {
	case "SHIFTJIS", "SJIS", "MSKANJI", "CP932", "WINDOWS31J":
		return japanese.ShiftJIS
	case "EUCJP":
		return japanese.EUCJP
	case "ISO2022JP":
		return japanese.ISO2022JP
	case "EUCKR", "CP949", "UHC":
		return korean.EUCKR
	case "GBK", "CP936", "GB2312", "EUCCN":
		return simplifiedchinese.GBK
	case "GB18030":
		return simplifiedchinese.GB18030
	case "HZ", "HZGB2312":
		return simplifiedchinese.HZGB2312
	case "BIG5", "CP950", "BIG5HKSCS":
		return traditionalchinese.Big5
	}
	return nil
}

// charmapOf knows the single byte sets, by their normalized names.
func charmapOf(n string) encoding.Encoding {
	switch n {
	case "ISO88591", "LATIN1", "L1":
		return charmap.ISO8859_1
	case "KOI8R":
		return charmap.KOI8R
	case "KOI8U":
		return charmap.KOI8U
	case "MACINTOSH", "MAC":
		return charmap.Macintosh
	case "MACCYRILLIC":
		return charmap.MacintoshCyrillic
	}
	var byName map[string]encoding.Encoding
	switch {
	case strings.HasPrefix(n, "ISO8859"):
		byName = map[string]encoding.Encoding{
			"2": charmap.ISO8859_2, "3": charmap.ISO8859_3, "4": charmap.ISO8859_4, "5": charmap.ISO8859_5, "6": charmap.ISO8859_6,
			"7": charmap.ISO8859_7, "8": charmap.ISO8859_8, "9": charmap.ISO8859_9, "10": charmap.ISO8859_10, "13": charmap.ISO8859_13,
			"14": charmap.ISO8859_14, "15": charmap.ISO8859_15, "16": charmap.ISO8859_16,
		}
		n = n[len("ISO8859"):]
	case strings.HasPrefix(n, "CP"), strings.HasPrefix(n, "WINDOWS"), strings.HasPrefix(n, "IBM"):
		byName = map[string]encoding.Encoding{
			"437": charmap.CodePage437, "850": charmap.CodePage850, "852": charmap.CodePage852, "855": charmap.CodePage855,
			"858": charmap.CodePage858, "860": charmap.CodePage860, "862": charmap.CodePage862, "863": charmap.CodePage863,
			"865": charmap.CodePage865, "866": charmap.CodePage866, "874": charmap.Windows874, "1250": charmap.Windows1250,
			"1251": charmap.Windows1251, "1252": charmap.Windows1252, "1253": charmap.Windows1253, "1254": charmap.Windows1254,
			"1255": charmap.Windows1255, "1256": charmap.Windows1256, "1257": charmap.Windows1257, "1258": charmap.Windows1258,
		}
		n = strings.TrimLeft(n, "CPWINDOSIBM")
	}
	if e, ok := byName[n]; ok {
		return e
	}
	return nil
}

// unicodeForm describes the UTF-16 and UTF-32 families.
type unicodeForm struct {
	wide  bool // 32 bits
	order binary.ByteOrder
	bom   bool // written, and looked for when reading
}

func unicodeOf(name string) (unicodeForm, bool) {
	n := encodingName(name)
	f := unicodeForm{order: binary.LittleEndian}
	switch n {
	case "UTF16LE", "UTF16BE", "UTF32LE", "UTF32BE", "UTF16LEBOM", "UTF16BEBOM":
	case "UTF16", "UTF32", "UCS2", "UCS4":
	default:
		return f, false
	}
	f.wide = strings.Contains(n, "32") || n == "UCS4"
	if strings.Contains(n, "BE") {
		f.order = binary.BigEndian
	}
	f.bom = n == "UTF16" || n == "UTF32" || strings.HasSuffix(n, "BOM")
	return f, true
}

// reencode converts data between encodings, as strictly as iconv: what can't
// be expressed, or isn't valid, is an error.
func reencode(data []byte, to, from string) ([]byte, error) {
	text := data
	if isUTF8Name(from) {
		if !utf8.Valid(data) {
			return nil, errBytes
		}
	} else {
		var err error
		if text, err = decodeFrom(data, from); err != nil {
			return nil, err
		}
	}
	if isUTF8Name(to) {
		return text, nil
	}
	return encodeTo(text, to)
}

func decodeFrom(data []byte, name string) ([]byte, error) {
	if f, ok := unicodeOf(name); ok {
		return f.decode(data)
	}
	if isASCII(name) {
		return asciiOnly(data)
	}
	e := charsetOf(name)
	if e == nil {
		return nil, errEncoding
	}
	out, err := e.NewDecoder().Bytes(data)
	if err != nil || bytes.ContainsRune(out, utf8.RuneError) {
		return nil, errBytes
	}
	return out, nil
}

func encodeTo(text []byte, name string) ([]byte, error) {
	if f, ok := unicodeOf(name); ok {
		return f.encode(text), nil
	}
	if isASCII(name) {
		return asciiOnly(text)
	}
	e := charsetOf(name)
	if e == nil {
		return nil, errEncoding
	}
	return e.NewEncoder().Bytes(text)
}

func isASCII(name string) bool {
	switch encodingName(name) {
	case "ASCII", "USASCII", "ANSIX3.41968", "C":
		return true
	}
	return false
}

func asciiOnly(data []byte) ([]byte, error) {
	for _, c := range data {
		if c >= 0x80 {
			return nil, errBytes
		}
	}
	return data, nil
}

func (f unicodeForm) decode(data []byte) ([]byte, error) {
	size := 2
	if f.wide {
		size = 4
	}
	if f.bom && len(data) >= size {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			if f.unit(order, data) == 0xfeff {
				f.order, data = order, data[size:]
				break
			}
		}
	}
	if len(data)%size != 0 {
		return nil, errBytes
	}
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		r := rune(f.unit(f.order, data))
		data = data[size:]
		if !f.wide && utf16.IsSurrogate(r) {
			if len(data) < 2 {
				return nil, errBytes
			}
			r = utf16.DecodeRune(r, rune(f.unit(f.order, data)))
			if r == utf8.RuneError {
				return nil, errBytes
			}
			data = data[2:]
		}
		if !utf8.ValidRune(r) {
			return nil, errBytes
		}
		out = utf8.AppendRune(out, r)
	}
	return out, nil
}

func (f unicodeForm) unit(o binary.ByteOrder, data []byte) uint32 {
	if f.wide {
		return o.Uint32(data)
	}
	return uint32(o.Uint16(data))
}

func (f unicodeForm) encode(text []byte) []byte {
	out := make([]byte, 0, 2*len(text)+4)
	put := func(u uint32) {
		var b [4]byte
		if f.wide {
			f.order.PutUint32(b[:], u)
			out = append(out, b[:4]...)
		} else {
			f.order.PutUint16(b[:], uint16(u))
			out = append(out, b[:2]...)
		}
	}
	if f.bom {
		put(0xfeff)
	}
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		if !f.wide && r >= 0x10000 {
			hi, lo := utf16.EncodeRune(r)
			put(uint32(hi))
			put(uint32(lo))
			continue
		}
		put(uint32(r))
	}
	return out
}

// encodeToGit makes UTF-8 of src, which is in cv's working-tree-encoding.
func (c *Converter) encodeToGit(cv *Conversion, path string, src []byte, o ConvertOptions) ([]byte, error) {
	enc := cv.encoding
	if enc == "" || len(src) == 0 {
		return src, nil
	}
	if err := checkBOM(path, enc, src, o); err != nil {
		return soften(src, err, o)
	}
	out, err := reencode(src, "UTF-8", enc)
	if err != nil {
		return soften(src, fmt.Errorf("failed to encode '%s' from %s to UTF-8", path, enc), o)
	}
	if o.Write && c.wantsRoundTrip(enc) {
		if c.set.Trace {
			o.report("trace: Checking roundtrip encoding for %s...", enc)
		}
		back, err := reencode(out, enc, "UTF-8")
		if err != nil || !bytes.Equal(back, src) {
			return nil, fmt.Errorf("encoding '%s' from %s to UTF-8 and back is not the same", path, enc)
		}
	}
	return out, nil
}

// soften lets content through unchanged, with an error message, where
// nothing is written.
func soften(src []byte, err error, o ConvertOptions) ([]byte, error) {
	if o.Write {
		return nil, err
	}
	o.report("error: %s", err)
	return src, nil
}

// checkBOM refuses a byte order mark where the name already says the order,
// and asks for one where it doesn't.
func checkBOM(path, enc string, src []byte, o ConvertOptions) error {
	f, ok := unicodeOf(enc)
	if !ok || strings.HasSuffix(encodingName(enc), "BOM") || !strings.HasPrefix(encodingName(enc), "UTF") {
		return nil
	}
	size := 2
	if f.wide {
		size = 4
	}
	has := len(src) >= size && (f.unit(binary.LittleEndian, src) == 0xfeff || f.unit(binary.BigEndian, src) == 0xfeff)
	tail := strings.TrimPrefix(enc[3:], "-")
	switch {
	case !f.bom && has:
		o.hint("The file '%s' contains a byte order mark (BOM). Please use UTF-%s as working-tree-encoding.", path, tail[:len(tail)-2])
		return fmt.Errorf("BOM is prohibited in '%s' if encoded as %s", path, enc)
	case f.bom && !has:
		o.hint("The file '%s' is missing a byte order mark (BOM). Please use UTF-%sBE or UTF-%sLE (depending on the byte order) as working-tree-encoding.", path, tail, tail)
		return fmt.Errorf("BOM is required in '%s' if encoded as %s", path, enc)
	}
	return nil
}

// wantsRoundTrip reports whether core.checkRoundtripEncoding lists enc.
func (c *Converter) wantsRoundTrip(enc string) bool {
	list := c.set.CheckRoundTrip
	if list == "" {
		list = "SHIFT-JIS"
	}
	for _, w := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' }) {
		if strings.EqualFold(w, enc) {
			return true
		}
	}
	return false
}
