@testable import ATProto

/// Lexicons and records for tests.
enum LexiconSamples {
    /// Every type and attribute that a lexicon of records can have.
    static let everything = #"""
        {"lexicon":1,"id":"com.example.thing","revision":2,"description":"d","$type":"com.atproto.lexicon.schema","defs":{
         "main":{"type":"record","key":"tid","description":"d","record":{"type":"object","required":["text","count"],"nullable":["note"],
          "properties":{
           "text":{"type":"string","minLength":1,"maxLength":40,"minGraphemes":1,"maxGraphemes":10,"knownValues":["a"]},
           "count":{"type":"integer","minimum":-2,"maximum":5,"default":0},
           "note":{"type":"string"},
           "flag":{"type":"boolean"},"always":{"type":"boolean","const":true},
           "three":{"type":"integer","enum":[1,2,3]},"seven":{"type":"integer","const":7},
           "color":{"type":"string","enum":["red","\u00e9"]},"fixed":{"type":"string","const":"x"},
           "data":{"type":"bytes","minLength":1,"maxLength":3},"link":{"type":"cid-link"},
           "image":{"type":"blob","accept":["image/*","text/plain"],"maxSize":100},"file":{"type":"blob"},
           "any":{"type":"unknown"},
           "tags":{"type":"array","minLength":1,"maxLength":2,"items":{"type":"string","maxLength":3}},
           "rows":{"type":"array","items":{"type":"array","items":{"type":"integer"}}},
           "nested":{"type":"object","required":["a"],"nullable":["b"],"properties":{"a":{"type":"integer"},"b":{"type":"integer"}}},
           "tree":{"type":"ref","ref":"#tree"},"strong":{"type":"ref","ref":"com.atproto.repo.strongRef"},
           "stranger":{"type":"ref","ref":"com.example.absent#thing"},"mark":{"type":"ref","ref":"#mark"},
           "open":{"type":"union","refs":["#tree","#leaf","com.example.absent"]},
           "closed":{"type":"union","closed":true,"refs":["#leaf","com.example.absent#x"]}
          }}},
         "tree":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"children":{"type":"array","items":{"type":"ref","ref":"#tree"}},"twin":{"type":"ref","ref":"#tree"}}},
         "leaf":{"type":"object","properties":{"size":{"type":"integer"}}},
         "mark":{"type":"token","description":"a token"}
        }}
        """#

    static let record =
        #"{"$type":"com.example.thing","text":"hi","count":1,"note":null,"tags":["a"],"tree":{"name":"x"}}"#

    /// A lexicon of one record whose properties are given as JSON.
    static func lexicon(properties: String, rest: String = "", defs: String = "") throws -> Lexicon {
        try Lexicon(json: Array(document(properties: properties, rest: rest, defs: defs).utf8))
    }

    static func document(properties: String, rest: String = "", defs: String = "") -> String {
        #"{"lexicon":1,"id":"com.example.thing","defs":{"main":{"type":"record","key":"any","record":"#
            + #"{"type":"object","properties":{\#(properties)}\#(rest)}}\#(defs)}}"#
    }
}
